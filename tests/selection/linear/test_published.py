"""Published and random gene lists are refitted as by scikit-learn and ranked."""

from __future__ import annotations

import numpy as np
import pytest
import settings
from linear_loops import nested_cross_validation
from settings import MOMENTS, of_kind
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from study_data import COLUMNS, study_of

from genesig.data.splits.draw import draw_splits
from genesig.errors import InvalidInput
from genesig.results import CrossValidation
from genesig.selection.assess.assessment import study_errors
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.linear.comparisons import N_RANDOM_LISTS, published_table, score_gene_lists
from genesig.selection.linear.training_sets import LinearSettings, PreparedStudy

ONE_REPEAT = settings.SPLITS | {"repeats": 1, "subsamples": 0}


def study(kind, **changes):
    dataset = study_of(kind, 3, n=60, d=80, **{"signal": 2.0, **changes})
    return dataset, draw_splits(dataset, seed=7, **ONE_REPEAT)


def table(kind, tmp_path, lines, **changes):
    dataset, splits = study(kind, **changes)
    config = of_kind(kind)
    fits = nested_cross_validation(
        dataset, splits, labels="observed", batch="1of1", fold_steps=MOMENTS, **config
    )
    path = tmp_path / "published.gmt"
    path.write_text("".join(f"{name}\tabout\t{genes}\n" for name, genes in lines.items()))
    return published_table(
        CrossValidation.from_batches(dataset, splits, [fits]),
        LinearSettings(**config),
        sets=str(path),
        fold_steps=MOMENTS,
    ), fits


@pytest.mark.slow
@pytest.mark.parametrize("kind", COLUMNS)
def test_true_genes_stand_out_and_others_do_not(kind, tmp_path):
    score_rows, _ = table(kind, tmp_path, {"true": "g0\tg1\tg2\tabsent", "other": "g50\tg51\tg52"})
    assert list(score_rows["row"]) == [
        "genesig",
        "published",
        "published",
        *["random"] * N_RANDOM_LISTS,
    ]
    rows = score_rows.set_index("name")
    assert rows.loc["true", "genes"] == rows.loc["other", "genes"] == 3
    assert rows.loc["true", "as_good"] == 0
    assert rows.loc["other", "as_good"] > 0.05
    drawn = score_rows["error"][score_rows["row"] == "random"]
    for name in ("genesig", "true", "other"):
        assert rows.loc[name, "as_good"] == np.mean(drawn <= rows.loc[name, "error"] + 1e-12)
    error_gap = rows.loc["true", "error"] - rows.loc["genesig", "error"]
    assert rows.loc["true", "difference"] == pytest.approx(error_gap, abs=1e-12)


def test_a_published_list_that_is_the_chosen_one_errs_as_much(tmp_path):
    score_rows, fits = table("regression", tmp_path, {"true": "g0\tg1\tg2"})
    assert all(set(fits.coef(k, fits.choice[k, 2])[0]) == {0, 1, 2} for k in range(len(fits)))
    assert score_rows["error"][1] == pytest.approx(score_rows["error"][0], rel=1e-10)
    assert score_rows["as_good"][0] == 0


def test_a_list_is_refitted_as_scikit_learn_does():
    dataset, splits = study("regression")
    lists = [np.arange(4), np.arange(20, 80)]
    sizes = np.full(len(splits.outer), 5)
    protocol = LinearSettings(**of_kind("regression"))
    score_rows = score_gene_lists(PreparedStudy(dataset, splits, MOMENTS), sizes, lists, protocol)
    y = dataset.response()
    X = dataset.X
    place = {name: k for k, name in enumerate(dataset.samples)}
    for number, split in enumerate(splits.outer):
        train, test, *folds = (
            [place[name] for name in names] for names in (split.train, split.test, *split.inner)
        )
        for column, genes in enumerate(lists):
            errors = []
            for lam in protocol.lam_grid():
                parts = []
                for fold in folds:
                    train_fold = np.setdiff1d(train, fold)
                    model = ridge(X[train_fold], y[train_fold], genes, lam)
                    parts.append((y[fold] - model.predict(X[np.ix_(fold, genes)])) ** 2)
                errors.append(np.concatenate(parts).mean())
            best = protocol.lam_grid()[np.argmin(errors)]
            predicted = ridge(X[train], y[train], genes, best).predict(X[np.ix_(test, genes)])
            is_split = score_rows.split == number
            expected = dict(zip(test, predicted, strict=True))
            np.testing.assert_allclose(
                score_rows.scores[is_split, column],
                [expected[row] for row in score_rows.row[is_split]],
                rtol=1e-8,
            )


def ridge(X, y, genes, lam):
    """Fit ridge with lam in units of ||Z'Z||/n of all genes."""
    norm = np.linalg.norm(StandardScaler().fit_transform(X), 2) ** 2
    return make_pipeline(StandardScaler(), Ridge(alpha=lam * norm)).fit(X[:, genes], y)


def test_random_lists_are_those_of_the_seed_and_as_long_as_asked(monkeypatch):
    dataset, splits = study("classification")
    lists_seen = []
    from genesig.selection.linear import comparisons

    original = comparisons.lists_as_path

    def noted(rows):
        lists_seen.append(rows[0])
        return original(rows)

    monkeypatch.setattr(comparisons, "lists_as_path", noted)
    protocol = LinearSettings(**of_kind("classification"))
    sizes = np.arange(3, 3 + len(splits.outer))
    first_scores = score_gene_lists(PreparedStudy(dataset, splits, MOMENTS), sizes, [], protocol)
    lengths = {len(genes) for lists in lists_seen for genes in lists}
    assert lengths == set(sizes.tolist())
    first_lists = {tuple(lists[0]) for lists in lists_seen[:2]}
    assert len(first_lists) == 1  # the inner folds and the whole see the same list
    second_scores = score_gene_lists(PreparedStudy(dataset, splits, MOMENTS), sizes, [], protocol)
    np.testing.assert_array_equal(first_scores.scores, second_scores.scores)
    assert first_scores.scores.shape[1] == N_RANDOM_LISTS


def test_genes_that_a_split_leaves_out_take_no_part():
    dataset, splits = study("classification")
    folds = [{"step": "variance_filter", "keep": 0.1}, *MOMENTS]
    sizes = np.full(len(splits.outer), 50)
    protocol = LinearSettings(**of_kind("classification"))
    score_rows = score_gene_lists(
        PreparedStudy(dataset, splits, folds), sizes, [np.arange(80)], protocol
    )
    # All eight genes that are left are every list: published and random.
    np.testing.assert_allclose(
        score_rows.scores, np.tile(score_rows.scores[:, :1], (1, N_RANDOM_LISTS + 1))
    )


@pytest.mark.slow
def test_random_lists_err_at_chance_in_noise():
    means = []
    for seed in range(12):
        dataset = study_of("classification", seed, n=40, d=40)
        dataset.X[:] = np.random.default_rng(seed).standard_normal(dataset.X.shape)
        splits = draw_splits(dataset, seed=7, **ONE_REPEAT)
        protocol = LinearSettings(**of_kind("classification"))
        sizes = np.full(len(splits.outer), 10)
        score_rows = score_gene_lists(PreparedStudy(dataset, splits, MOMENTS), sizes, [], protocol)
        means.append(study_errors(score_rows, ASSESSMENT_KINDS["classification"].headline).mean())
    assert np.mean(means) == pytest.approx(0.5, abs=0.06)


def test_a_file_without_a_measured_gene_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="none of its 2 genes is in the data"):
        table("classification", tmp_path, {"elsewhere": "x1\tx2"})
