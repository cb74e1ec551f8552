# Report, model card and the record of the run.
#
# INPUTS: everything above
# OUTPUTS: results/settings.json, results/report_data.json, results/report.html, results/figures/,
# results/model_card.md, results/run.json, results/times/jobs.tsv


REPORTED_TABLES = tables(
    *GATHERED_TABLES,
    "frequency_curve",
    "controls",
    *nonlinear(*NONLINEAR_TABLES),
    *sets(*SET_TABLES),
)
REPORTED_TABLES |= tables(*PATIENT_TABLES, *STUDIES_TABLES, *PUBLISHED_TABLES, *OMICS_TABLES)
REPORTED_TABLES |= tables(
    *MODULE_TABLES,
    *STRETCH_TABLES,
    *DECISION_TABLES,
    *(ENRICHMENT_TABLES if ENRICHMENT_FILE else ()),
    *survival(*SURVIVAL_TABLES),
)
FURTHER_RESULTS = (
    "baselines.tsv",
    "null_cv_frequency.tsv",
    "dataset.h5ad",
    "splits.json",
    "signature.h5ad",
)
FURTHER_RESULTS += ("model.json", "model_card.md", "report_data.json", "report.html", "figures")
JSON_RECORDS = ["results/validation.json", "results/quality.json", *COHORT_RECORDS]
FIGURES = {"patterns": ["{name,[^/]+}.svg"], "category": "Figures", "labels": {"figure": "{name}"}}
FIGURES["caption"] = "../report/figure.rst"


rule settings:
    input:
        dataset="results/dataset.h5ad",
    output:
        "results/settings.json",
    log:
        "logs/settings.log",
    priority: 6
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("settings"),
    params:
        sources("settings.py"),
        config=config,
    script:
        "../scripts/settings.py"


rule report_data:
    input:
        **REPORTED_TABLES,
        **{key: f"results/linear/{key}.npz" for key in ("final", "subsamples")},
        **STUDY,
        observed=batches("observed"),
        null="results/null.npz",
        run="results/settings.json",
        json_records=JSON_RECORDS,
    output:
        "results/report_data.json",
    log:
        "logs/report_data.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("report_data"),
    params:
        sources("report_data.py"),
    script:
        "../scripts/report_data.py"


rule report:
    input:
        data="results/report_data.json",
    output:
        html=report("results/report.html", category="Report", caption="../report/report.rst"),
        figures=report(directory("results/figures"), **FIGURES),
        card="results/model_card.md",
    log:
        "logs/report.log",
    conda:
        "../envs/genesig.yaml"
    threads: 2  # it is last, and all wait for it
    resources:
        **needs("report"),
    params:
        sources("report.py"),
        settings=config["report"],
    script:
        "../scripts/report.py"


# The last: it holds the SHA-256 of every result, the report among them, and of every fit.
rule run_record:
    input:
        settings="results/settings.json",
        results=[
            *REPORTED_TABLES.values(),
            *JSON_RECORDS,
            *COHORT_TABLE_FILES,
            *(f"results/{name}" for name in FURTHER_RESULTS),
        ],
        fits=fits(),
    output:
        "results/run.json",
    log:
        "logs/run_record.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("run_record"),
    params:
        sources("run_record.py"),
    script:
        "../scripts/run_record.py"


# Beside the report and none of its inputs: two runs take different times, their report is the same.
rule job_times:
    input:
        costs=[*costs(), *sets_costs()],
    output:
        "results/times/jobs.tsv",
    log:
        "logs/job_times.log",
    conda:
        "../envs/genesig.yaml"
    resources:
        **needs("job_times"),
    params:
        sources("job_times.py"),
    script:
        "../scripts/job_times.py"


# The last words of a run: where the report is, and its first sentences.
onsuccess:
    import sys
    import threading
    from genesig.report.card import closing_lines

    if last_lines := closing_lines("results"):
        print(last_lines, file=sys.stderr)
    # Timers of Snakemake's scheduler would hold the end of the run for up to a second.
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            if thread.function.__module__.startswith("snakemake."):
                thread.cancel()
