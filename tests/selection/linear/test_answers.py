"""Training sets give FDR-selected genes and a predictive model for every kind of response."""

from dataclasses import replace

import numpy as np
import pytest
import settings
from linear_loops import (
    fit_final_model,
    fit_half_samples,
    nested_cross_validation,
    study_half_samples,
)
from scipy.stats import ttest_ind
from settings import MOMENTS, of_kind
from sklearn.linear_model import ElasticNet, Ridge
from sklearn.preprocessing import StandardScaler
from study_data import COLUMNS, study_of

from genesig.data.splits.draw import draw_splits
from genesig.data.splits.folds import Samples
from genesig.errors import GenesigError
from genesig.response.covariates import Covariate
from genesig.results import Fits
from genesig.results.splits import HalfSampleStudy
from genesig.selection.assess.assessment import assess
from genesig.selection.assess.held_out import collect_held_out
from genesig.selection.assess.kinds import ASSESSMENT_KINDS
from genesig.selection.genes.frequency import (
    HALF_SAMPLE_MU,
    LIST_SHARES,
    expected_tails,
    rank_genes,
    selection_q,
)
from genesig.selection.linear import answers as predictive
from genesig.selection.linear.half_samples import HALF_SAMPLE_TAU, max_list_length, nested_halves
from genesig.selection.linear.kinds import outer_elastic_nets
from genesig.selection.linear.training_sets import (
    LIST_LENGTHS,
    LinearSettings,
    NormalisedMatrix,
    PreparedStudy,
)

ONE_REPEAT_WITH_HALVES = settings.SPLITS | {"repeats": 1, "subsamples": 4}
STUDY = {"batch": "1of1", "fold_steps": MOMENTS}


def of(kind, seed=0, signal=2.0, **changes):
    """Return a study of 48 samples, its splits, its settings, and what chance gives."""
    dataset = study_of(kind, seed, n=48, d=60, signal=signal)
    splits = draw_splits(dataset, seed=3, **ONE_REPEAT_WITH_HALVES)
    linear = (
        of_kind(kind) | {"list": "best", "mu": [1e-6, 1e-3, 1e-2], "model": "ensemble"} | changes
    )
    return (
        dataset,
        splits,
        linear,
        study_half_samples(dataset, splits, permutations=20, fold_steps=MOMENTS, **linear),
    )


def fitted(study, labels="observed", **changes):
    dataset, splits, linear, chance = study
    return nested_cross_validation(
        dataset, splits, chance, labels=labels, **STUDY, **linear | changes
    )


@pytest.fixture(scope="module", params=list(COLUMNS))
def study(request):
    return of(request.param)


@pytest.mark.quick("classification", "survival")
def test_the_true_genes_are_named_and_both_models_predict(study):
    dataset, splits, linear, chance = study
    final = fit_final_model(dataset, splits, chance, fold_steps=MOMENTS, **linear)
    times = chance.counts()[0]
    q = selection_q(times, expected_tails(chance.final))
    assert np.sum(q[:3] <= 0.1) >= 2
    assert set(rank_genes(times, chance.strength)[:5].tolist()) >= {0, 1, 2}
    selected = set(np.flatnonzero(q <= 0.1).tolist())
    assert selected <= set(final.answer("fdr_selected").coef(0, 0)[0].tolist())
    fits = fitted(study)
    max_error = {"classification": 0.4, "several_classes": 0.6, "regression": 0.5, "survival": 0.4}
    for name in ("predictive", "fdr_selected"):
        held_out_scores = collect_held_out(dataset, splits, fits.answer(name))
        (error,) = assess(held_out_scores, ASSESSMENT_KINDS[dataset.design.kind].headline)
        assert error.error < max_error[dataset.design.kind], name


@pytest.mark.slow_cases(
    "several_classes",
    "regression",
)
def test_test_samples_have_no_part_in_what_is_fitted(study):
    dataset, splits, linear, chance = study
    split = splits.outer[0]
    spoilt = dataset.X.copy()
    test = dataset.rows(split.test)
    one_split = replace(splits, outer=(split,))
    spoilt[test] = np.random.default_rng(9).normal(40, 9, (len(test), 60))
    obs = dataset.obs.copy()
    obs.iloc[test] = np.roll(obs.iloc[test].to_numpy(), 1, axis=0)
    changed = replace(dataset, X=spoilt, obs=obs)
    assert (changed.response()[test] != dataset.response()[test]).any()
    fits_before, fits_after = (
        nested_cross_validation(
            dataset_version, one_split, chance, labels="observed", **STUDY, **linear
        )
        for dataset_version in (dataset, changed)
    )
    np.testing.assert_array_equal(fits_before.answers.indices, fits_after.answers.indices)
    np.testing.assert_allclose(fits_before.answers.values, fits_after.answers.values, rtol=1e-9)
    np.testing.assert_allclose(
        fits_before.answers.intercept, fits_after.answers.intercept, rtol=1e-8, atol=1e-9
    )
    assert np.abs(fits_before.answers.scores - fits_after.answers.scores).max() > 0.1


def test_a_half_makes_nested_lists_of_its_largest_weights():
    genes = np.array([2, 5, 7, 11, 13])
    values = np.array([0.1, -3.0, 0.5, 2.0, -0.5])
    lists = [part.tolist() for part, _ in nested_halves(genes, values)]
    assert lists == [[5, 7, 11], [2, 5, 7, 11, 13]]  # of equals the first by name
    for part, in_list in nested_halves(genes, values):
        np.testing.assert_array_equal(in_list, values[np.isin(genes, part)])
    several = np.outer(values, [0.6, 0.8])  # of several classes their length counts
    assert [part.tolist() for part, _ in nested_halves(genes, several)] == lists
    assert [len(part) for part, _ in nested_halves(genes[:0], values[:0])] == [0] * len(LIST_SHARES)


def test_chance_knows_nothing_of_the_labels(study):
    """Other labels in another order, under the same permutations of them: the same E."""
    dataset, splits, linear, chance = study
    if dataset.design.kind != "classification":
        pytest.skip("one kind will do")
    swapped_labels = dataset.obs["state"].map({"ill": "well", "well": "ill"})
    relabelled = replace(dataset, obs=dataset.obs.assign(state=swapped_labels))
    repeated = study_half_samples(relabelled, splits, permutations=20, fold_steps=MOMENTS, **linear)
    for name in ("outer", "inner", "final", "final_inner", "half"):
        np.testing.assert_array_equal(getattr(chance, name), getattr(repeated, name))


@pytest.mark.slow_cases(
    "several_classes",
    "survival",
)
def test_permuted_studies_are_answered_by_the_same_chance(study):
    fits = fitted(study, labels="permuted-001-002")
    assert len(fits) == 2 * len(study[1].outer)
    assert np.isfinite(fits.answers.scores).all()
    alone = fitted(study, labels="permuted-002-002")
    second = fits.answer("fdr_selected").take(np.arange(len(alone), len(fits)))
    np.testing.assert_array_equal(second.indices, alone.answer("fdr_selected").indices)


@pytest.mark.one_in(2)
def test_answers_survive_a_file_and_any_order(study, tmp_path):
    fits = fitted(study)
    fits.save(tmp_path / "fits.npz")
    reloaded = Fits.load(tmp_path / "fits.npz")
    reverse_order = np.arange(len(fits))[::-1]
    concatenated = Fits.concatenate(
        [reloaded.take(reverse_order[:1]), reloaded.take(reverse_order[1:])]
    )
    for name in ("predictive", "fdr_selected"):
        answer_before = fits.answer(name)
        answer_after = concatenated.answer(name)
        for fit in range(len(fits)):
            for coef_before, two in zip(
                answer_before.coef(fit, 0), answer_after.coef(reverse_order[fit], 0), strict=True
            ):
                np.testing.assert_array_equal(coef_before, two)
            np.testing.assert_array_equal(
                answer_before.test_scores(fit)[1], answer_after.test_scores(reverse_order[fit])[1]
            )
    chosen = fits.with_chosen()
    np.testing.assert_array_equal(
        chosen.coef(1, len(fits.mu))[1], fits.answer("predictive").coef(1, 0)[1]
    )
    chance = study[3]
    chance.save(tmp_path / "chance.npz")
    np.testing.assert_array_equal(
        HalfSampleStudy.load(tmp_path / "chance.npz").counts(), chance.counts()
    )


def test_a_length_that_was_fixed_beforehand_is_kept(study):
    fits = fitted(study, size=7, list="fdr", model="two_stage")
    assert set(np.diff(fits.answers.indptr).tolist()) == {7}


@pytest.mark.one_in(2)
def test_halves_name_genes_anew(study):
    dataset, splits, linear, chance = study
    halves = fit_half_samples(dataset, splits, chance, fold_steps=MOMENTS, **linear)
    assert len(halves) == 4
    assert np.diff(halves.answer("fdr_selected").indptr).min() >= 1


def test_without_chance_the_chosen_list_is_the_only_answer(study):
    dataset, splits, linear, _ = study
    fits = nested_cross_validation(
        dataset, splits, HalfSampleStudy.none(), labels="observed", **STUDY, **linear
    )
    assert fits.answers is None
    plain = nested_cross_validation(
        dataset, splits, labels="observed", **STUDY, **linear | {"list": "stable"}
    )
    np.testing.assert_array_equal(fits.values, plain.values)


def test_a_half_lists_what_the_elastic_net_of_scikit_learn_does():
    dataset, splits, _, chance = of("regression")
    rows = np.arange(len(dataset.samples))
    masks = Samples.from_dataset(dataset).draw_halves(
        rows, 25, splits.seed, (*splits.final.seed, 0)
    )
    Z = StandardScaler().fit_transform(dataset.X)
    norm = np.linalg.norm(Z, 2) ** 2 / len(Z)
    y = dataset.response()
    for half in range(6):
        is_in_half = masks[:, half]
        H = StandardScaler().fit_transform(dataset.X[is_in_half])
        target = y[is_in_half] - y[is_in_half].mean()
        listed = np.zeros(0, dtype=np.int64)
        for fraction in HALF_SAMPLE_TAU:
            tau = fraction * 2 / is_in_half.sum() * np.abs(H.T @ target).max()
            alpha = tau / 2 + HALF_SAMPLE_MU * norm
            net = ElasticNet(alpha=alpha, l1_ratio=tau / 2 / alpha, tol=1e-12, max_iter=100_000)
            genes = np.flatnonzero(net.fit(H, target).coef_)
            if len(genes) > max_list_length(60):
                break
            listed = genes
        part = slice(*chance.indptr[len(LIST_SHARES) * (half + 1) - 1 :][:2])  # the whole list
        np.testing.assert_array_equal(np.sort(chance.indices[part]), listed)


def test_a_few_samples_that_let_too_many_genes_in_list_the_strongest():
    dataset = study_of("classification", 0, n=12, d=400)
    splits = draw_splits(dataset, seed=3, **ONE_REPEAT_WITH_HALVES | {"folds": 3, "inner_folds": 2})
    copies = np.repeat(dataset.X[:, :1], 200, axis=1)
    same = replace(dataset, X=np.hstack([copies, dataset.X[:, 200:]]))
    linear = of_kind("classification") | {"list": "stable", "mu": [1e-6, 1e-3]}
    chance = study_half_samples(same, splits, permutations=2, fold_steps=MOMENTS, **linear)
    sizes = np.diff(chance.indptr)
    assert sizes.min() > 0
    assert sizes.max() <= max_list_length(400)


@pytest.mark.slow
def test_chance_of_other_halves_is_refused():
    dataset, splits, linear, chance = of("classification", list="stable")
    with pytest.raises(GenesigError, match="run both with the same settings"):
        fit_final_model(dataset, splits, chance, fold_steps=MOMENTS, **linear | {"list": "best"})


def test_halves_are_complementary_and_stratified_and_a_pair_more_leaves_the_others():
    dataset, *_ = of("classification")
    samples = Samples.from_dataset(dataset)
    rows = np.arange(5, 45)
    masks = samples.draw_halves(rows, 4, 1, (7,))
    is_in_half = np.isin(np.arange(len(dataset.samples)), rows)
    for pair in range(4):
        a = masks[:, 2 * pair]
        b = masks[:, 2 * pair + 1]
        np.testing.assert_array_equal(a ^ b, is_in_half)
        for side in (-1, 1):
            sizes = [np.sum(dataset.response()[half] == side) for half in (a, b)]
            assert abs(sizes[0] - sizes[1]) <= 1
    np.testing.assert_array_equal(samples.draw_halves(rows, 2, 1, (7,)), masks[:, :4])


def test_groups_stay_in_one_half():
    dataset = study_of("classification", 0, n=48, d=5)
    obs = dataset.obs.assign(patient=[f"p{k // 3}" for k in range(48)])
    design = replace(dataset.design, group="patient")
    grouped = replace(dataset, obs=obs, design=design)
    masks = Samples.from_dataset(grouped).draw_halves(np.arange(48), 5, 1, (7,))
    for half in masks.T:
        assert all(len(set(half[3 * k : 3 * k + 3].tolist())) == 1 for k in range(16))


@pytest.mark.slow
def test_the_committee_is_the_mean_of_three_ridge_models():
    """Held against ridge regressions of our own: on the chosen list, on genes by |t|, on a third.

    What is left of three times the mean, less the list's model and that of the k genes of the
    largest t, is itself a ridge regression on the genes that it has.
    """
    dataset, splits, linear, chance = of("classification", list="stable")
    one_split = replace(splits, outer=splits.outer[:1])
    mean_scores = [np.zeros(60), np.zeros(60)]
    for model, values in zip(("two_stage", "ensemble"), mean_scores, strict=True):
        fits = nested_cross_validation(
            dataset, one_split, chance, labels="observed", **STUDY, **linear | {"model": model}
        )
        genes, weights = fits.answer("predictive").coef(0, 0)
        values[genes] = weights
    rows = dataset.rows(splits.outer[0].train)
    X = dataset.X[rows]
    y = dataset.response()[rows]
    sd = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / sd
    norm = np.linalg.norm(Z, 2) ** 2

    def ridge(genes, lam):
        w = np.zeros(60)
        w[genes] = Ridge(alpha=lam * norm).fit(Z[:, genes], y).coef_ / sd[genes]
        return w

    order = np.argsort(-np.abs(ttest_ind(X[y > 0], X[y < 0]).statistic))
    best = np.inf
    for length in LIST_LENGTHS:
        for lam in linear["lam"]:
            third = 3 * mean_scores[1] - mean_scores[0] - ridge(order[:length], lam)
            genes = np.flatnonzero(np.abs(third) > 1e-9)
            if len(genes):
                distances = [
                    np.abs(ridge(genes, other_lam) - third).max() for other_lam in linear["lam"]
                ]
                best = min(best, *distances)
    assert best < 1e-8


@pytest.mark.parametrize("is_adjusted", [False, True])
@pytest.mark.parametrize("kind", list(COLUMNS))
def test_the_gene_that_goes_with_the_response_most_is_the_first_to_be_selected(kind, is_adjusted):
    dataset = study_of(kind, 5, n=48, d=60, signal=1.0)
    if is_adjusted:
        age = dataset.X[:, 0] + np.random.default_rng(0).normal(size=48)
        design = replace(dataset.design, covariates=(Covariate("age", None),))
        dataset = replace(dataset, obs=dataset.obs.assign(age=age.astype(str)), design=design)
    protocol = LinearSettings(**of_kind(kind))
    splits = draw_splits(dataset, seed=3, **ONE_REPEAT_WITH_HALVES)
    X = dataset.X.copy()
    X[:, 7] = 1.0
    prepared_study = PreparedStudy(dataset, splits, MOMENTS)
    todo = prepared_study.make_training_sets(splits.outer)
    matrix = NormalisedMatrix(prepared_study, X, np.arange(60), todo)
    sets = outer_elastic_nets(matrix, protocol)
    tau = 0.999 * sets.tau_max[:, None]
    mu = 1e-3 * sets.norm[:, None]
    longest_path = sets.path(tau, mu, protocol, None)
    for k in range(len(todo)):
        strength = sets.null_gradient(k)
        assert longest_path.coef(k, 0)[0].tolist() == [np.argmax(strength)]
        assert len(predictive.by_gradient(strength)[-1]) == 59  # the constant one has no part
