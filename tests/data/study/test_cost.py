"""Validation and the cluster get time and memory that follow the size of the study."""

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import yaml
from places import ROOT

from genesig.cli import main
from genesig.data.files.readers import load_schema
from genesig.data.study.cost import (
    N_FACTOR_RATIOS,
    SUBMITTED_JOB_MB,
    Cost,
    Size,
    check_cost,
    cpu_slowness,
    describe_costs,
    job_resources,
    study_costs,
)
from genesig.data.study.gene_sets import check_gene_sets
from genesig.data.validate import resolve_config
from genesig.selection.linear.omics import PENALTY_RATIOS


def cost_message(
    folder: Path, n: int, capsys: pytest.CaptureFixture[str], **nonlinear: object
) -> str:
    names = [f"S{k:03d}" for k in range(n)]
    values = np.random.default_rng(0).normal(8, 2, (3, n))
    rows = [f"g{j}\t" + "\t".join(f"{v:.3f}" for v in row) for j, row in enumerate(values)]
    (folder / "e.tsv").write_text("\n".join(["gene\t" + "\t".join(names), *rows]) + "\n")
    sheet = [f"{name}\t{'ab'[k % 2]}" for k, name in enumerate(names)]
    (folder / "s.tsv").write_text("\n".join(["sample\tclass", *sheet]) + "\n")
    config = {"expression": "e.tsv", "samples": "s.tsv", "label": "class", "nonlinear": nonlinear}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    assert main(["validate", "config.yaml"]) == 0
    return capsys.readouterr().err


@pytest.mark.slow
def test_many_samples_take_hours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "config.yaml, nonlinear: takes about" in cost_message(tmp_path, 800, capsys)
    assert "hours of one processor" in cost_message(tmp_path, 800, capsys)
    assert "nonlinear" not in cost_message(tmp_path, 800, capsys, enabled=False)
    assert "nonlinear" not in cost_message(tmp_path, 60, capsys)


STUDY = {"expression": "x.tsv", "samples": "s.tsv", "label": "class"}
SIZE = Size(samples=38, genes=3051, splits=20, training=30)


def total_seconds(size=SIZE, **sections):
    costs = study_costs(resolve_config({**STUDY, **sections}, load_schema()), size)
    return sum(cost.total_seconds for cost in costs.values())


def largest_memory(size):
    costs = study_costs(resolve_config(STUDY, load_schema()), size)
    return max(cost.megabytes for cost in costs.values())


def test_more_work_costs_more():
    """Permutations count as often as the observed fits; genes, samples and splits all count."""
    off = {"enabled": False}
    cost_of_1000, two, three = (
        total_seconds(controls={"permutations": k}, nonlinear=off) for k in (1000, 2000, 3000)
    )
    assert three - two == pytest.approx(two - cost_of_1000)
    for name in ("samples", "genes", "splits", "training"):
        assert total_seconds(replace(SIZE, **{name: 4 * getattr(SIZE, name)})) > total_seconds()
    assert total_seconds(nonlinear=off) < total_seconds()


def test_permuted_labels_cost_no_fdr_model_unless_half_samples_predict():
    """Half samples of observed labels count once, under `best` once for each permutation, too."""

    def per_permutation(**linear):
        few, many = (total_seconds(controls={"permutations": k}, linear=linear) for k in (50, 100))
        return many - few

    none = {"permutations": 0}
    plain = per_permutation(list="stable")
    assert per_permutation(list="best") > 1.2 * plain
    with_model, without = (
        total_seconds(controls={"permutations": 100}, signature=signature)
        for signature in ({}, none)
    )
    assert 0 < with_model - without < 50 * plain


def test_permutations_of_half_samples_cost_one_inner_fold_each():
    chance = {}
    for scheme in ("stratified_kfold", "leave_one_out"):
        config = resolve_config({**STUDY, "splits": {"inner_scheme": scheme}}, load_schema())
        chance[scheme] = study_costs(config, Size(125, 10_000, 25, 100))["chance"].seconds
    assert chance["leave_one_out"] == chance["stratified_kfold"]


def test_slowness_of_the_processor_multiplies_the_seconds():
    costs = {"fit": Cost(1.0, 401.0, 41.0)}
    assert (
        describe_costs(costs, slowness=2.0) == "takes about 82 s of one processor, 400 MB for a job"
    )
    assert 0.05 < cpu_slowness() < 50


def test_every_kind_has_its_own_cost():
    """Each class is a column; survival is not linear least squares."""
    off = {"enabled": False}
    none = {"permutations": 1000}
    two, three, six = (
        total_seconds(replace(SIZE, classes=count), nonlinear=off, controls=none)
        for count in (0, 3, 6)
    )
    assert three > 2 * two
    assert six > 1.8 * three
    assert total_seconds(data={"task": "survival"}, controls=none) > 2 * two


def test_memory_is_a_few_matrices():
    """The baselines hold most, seven of them, as measured."""
    matrix = 8e-6 * 300 * 200_000
    grown = largest_memory(Size(300, 200_000, 20, 240)) - largest_memory(Size(300, 1, 20, 240))
    assert 2 * matrix < grown < 8 * matrix


@pytest.mark.parametrize(
    ("samples", "genes", "fit", "final", "baselines"),
    [(100, 5000, 669, 390, 425), (300, 20000, 1016, 516, None), (600, 20000, 1319, 643, 1037)],
)
def test_a_job_asks_for_more_memory_than_it_took(samples, genes, fit, final, baselines):
    """Against MB of jobs of study_cost.py with 20, 20 and 50 permutations a job."""
    size = Size(samples, genes, splits=6, training=samples * 5 // 6)
    costs = study_costs(resolve_config(STUDY, load_schema()), size)
    for rule, megabytes in (("fit", fit), ("fit_final", final), ("baselines", baselines)):
        if megabytes is not None:
            script = job_resources(costs[rule])["mem_mb"] - SUBMITTED_JOB_MB
            assert megabytes < script < 1.6 * megabytes


def test_resources_requested_from_a_cluster_exceed_the_estimate():
    assert job_resources(Cost(600.0, 1000.0, 1800.0)) == {"mem_mb": 1550, "runtime": 50}


@pytest.mark.parametrize(("seconds", "text"), [(41, "41 s"), (97, "1.6 min"), (7300, "2 h")])
def test_cost_message_uses_suitable_units(seconds, text):
    costs = {"fit": Cost(1.0, 401.0, seconds)}
    assert describe_costs(costs) == f"takes about {text} of one processor, 400 MB for a job"


def test_absent_gene_sets_cost_no_time():
    """And where they are named, permutations, samples, genes and values of mu count."""
    config = resolve_config(STUDY, load_schema())
    assert not [rule for rule in study_costs(config, SIZE) if "sets" in rule]
    with_sets = {"sets": "h.gmt"}
    assert total_seconds(structured=with_sets) > total_seconds()
    with_more_mu = {"mu": [1e-3, 1e-2], **with_sets}
    assert total_seconds(structured=with_more_mu) > total_seconds(structured=with_sets)
    for name in ("samples", "genes", "splits", "training"):
        larger = replace(SIZE, **{name: 4 * getattr(SIZE, name)})
        study_cost_pair = [
            study_costs({**config, "structured": {**config["structured"], **with_sets}}, size)
            for size in (SIZE, larger)
        ]
        fits, orders = (
            [costs[rule].total_seconds for costs in study_cost_pair]
            for rule in ("sets_fit", "enrichment")
        )
        assert (fits[1] > fits[0]) == (name != "samples")
        assert (orders[1] > orders[0]) == (name in ("samples", "genes"))
    few, many = (
        total_seconds(structured=with_sets, controls={"permutations": k}) for k in (10, 500)
    )
    assert many - few > total_seconds(controls={"permutations": 500}) - total_seconds(
        controls={"permutations": 10}
    )


def test_modules_cost_time_only_if_requested() -> None:
    def costs(modules: int) -> dict[str, Cost]:
        config = {**STUDY, "quality": {"modules": modules}}
        return study_costs(resolve_config(config, load_schema()), SIZE)

    assert "modules" not in costs(0)
    assert costs(4)["modules"].seconds > costs(2)["modules"].seconds > 1


def test_page_on_large_studies_equals_the_cost_model() -> None:
    """Each row to its two digits: seconds and MB of a job, minutes of all jobs of a rule."""
    page = (ROOT / "docs/evidence/speed.md").read_text(encoding="utf-8")
    page = page.split("\n## Large studies\n")[1]
    sections = yaml.safe_load(page.split("```yaml\n")[1].split("```")[0])
    size = Size(samples=1000, genes=54675, splits=20, training=800)
    costs = study_costs(resolve_config({**STUDY, **sections}, load_schema()), size)
    row = r"^\| (\S.*) \| (\d+) \| ([\d.]+) \| (\d+) \| ([\d.]+) \|$"
    rows = re.findall(row, page.replace(",", ""), re.MULTILINE)
    assert len(rows) == len(costs)
    for name, jobs, *numbers in rows:
        cost = costs["others" if name == "all others" else name.strip("`")]
        modelled = [cost.seconds, cost.megabytes, cost.total_seconds / 60]
        assert [float(f"{value:.2g}") for value in modelled] == [
            float(number) for number in numbers
        ]
        assert int(jobs) == round(cost.total_seconds / cost.seconds) or name in (
            "`fit`",
            "all others",
        )


def test_the_page_on_large_studies_says_how_its_hours_grow() -> None:
    page = " ".join((ROOT / "docs/evidence/speed.md").read_text(encoding="utf-8").split())
    match = re.search(
        r"samples by the power (\S+), with the genes by (\S+), with permutations by (\S+)\.", page
    )
    base = {"samples": 1000, "genes": 54675, "permutations": 1000}

    def hours(samples: int, genes: int, permutations: int) -> float:
        size = Size(samples=samples, genes=genes, splits=20, training=samples * 4 // 5)
        chosen = {"controls": {"permutations": permutations, "permutations_per_job": 10}}
        return total_seconds(size, splits={"batches": 1}, nonlinear={"enabled": False}, **chosen)

    powers = [np.log2(hours(**base | {name: 2 * base[name]}) / hours(**base)) for name in base]
    assert match is not None
    assert [float(number) for number in match.groups()] == pytest.approx(powers, abs=0.05)
    of_studies = re.search(r"by the power (\S+) of the number of studies\.", page)
    assert of_studies is not None
    power = np.log2(_hours_of_studies(12) / _hours_of_studies(6))
    assert float(of_studies[1]) == pytest.approx(power, abs=0.05)


def _hours_of_studies(number: int) -> float:
    study_files = {"expression": "x", "samples": "s"}
    config = {
        "studies": [{"name": f"study{k}", **study_files} for k in range(number)],
        "label": "class",
        "controls": {"permutations": 1000},
        "nonlinear": {"enabled": False},
    }
    size = Size(samples=1000, genes=54675, splits=number, training=1000 - 1000 // number)
    costs = study_costs(resolve_config(config, load_schema()), size)
    return sum(cost.total_seconds for cost in costs.values())


SETS = {
    # what the config names -> the sizes of its file
    "structured": ({"structured": {"sets": "s.gmt"}}, "structured"),
    "enrichment": ({"enrichment": {"sets": "s.gmt"}}, "enrichment"),
    "published": ({"controls": {"signatures": "s.gmt"}}, "published"),
}


@pytest.mark.parametrize("name", SETS)
def test_gene_sets_cost_by_their_number(name: str) -> None:
    """200,000 sets of 20 genes take hours; 50 add next to nothing to the file's fixed part."""
    sections, kind = SETS[name]
    few, many = (
        replace(SIZE, **{f"{kind}_sets": count, f"{kind}_members": 20 * count})
        for count in (50, 200_000)
    )
    config = resolve_config({**STUDY, **sections}, load_schema())
    small, large = (study_costs(config, size) for size in (few, many))
    extra_seconds = total_seconds(many, **sections) - total_seconds(few, **sections)
    assert extra_seconds > (3600 if name == "structured" else 180)
    room = [max(cost.megabytes for cost in costs.values()) for costs in (small, large)]
    assert room[1] > room[0] + 400
    messages = [problem.message for problem in check_cost(large, "c.yaml")]
    assert any("gene sets take about" in message for message in messages) == (name != "enrichment")
    assert not any("gene sets" in problem.message for problem in check_cost(small, "c.yaml"))


def test_the_sets_of_the_file_are_counted(tmp_path: Path) -> None:
    genes = [f"g{k}" for k in range(60)]
    rows = ["\t".join([f"S{k}", "about", *genes[k : k + 12]]) for k in range(40)]
    (tmp_path / "s.gmt").write_text("\n".join(rows) + "\n")
    path = str(tmp_path / "s.gmt")
    config = resolve_config(
        {**STUDY, "structured": {"sets": path}, "controls": {"signatures": path}}, load_schema()
    )
    problems, n_sets = check_gene_sets(config, genes, None)
    assert problems == []
    assert n_sets == {
        "structured_sets": 40,
        "structured_members": 480,
        "published_sets": 40,
        "published_members": 480,
    }


def test_as_many_factors_are_counted_as_two_omics_try() -> None:
    tried = [pair for pair in product(PENALTY_RATIOS, repeat=2) if min(pair) == 1]
    assert len(tried) == N_FACTOR_RATIOS
