# What people read.
#
# INPUTS: everything above
# OUTPUTS: results/run.json, results/report_data.json, results/report.html, results/figures/,
# results/times/jobs.tsv


rule run_record:
    input:
        dataset="results/dataset.h5ad",
        code=sources("run_record.py"),
    output:
        "results/run.json",
    log:
        "logs/run_record.log",
    resources:
        **needs("run_record"),
    params:
        config=config,
    script:
        "../scripts/run_record.py"


rule report_data:
    input:
        **tables(*GATHERED, "frequency_curve", "controls", *nonlinear(*NONLINEAR), *sets(*SETS)),
        **tables(*MODULES, *survival(*FORETOLD)),
        dataset="results/dataset.h5ad",
        splits="results/splits.json",
        observed=batches("observed"),
        final="results/linear/final.npz",
        null="results/null.npz",
        run="results/run.json",
        said=["results/validation.json", "results/quality.json", *TESTED],
        code=sources("report_data.py"),
    output:
        "results/report_data.json",
    log:
        "logs/report_data.log",
    resources:
        **needs("report_data"),
    script:
        "../scripts/report_data.py"


rule report:
    input:
        data="results/report_data.json",
        code=sources("report.py"),
    output:
        html=report("results/report.html", category="Report", caption="../report/report.rst"),
        figures=directory("results/figures"),
    log:
        "logs/report.log",
    resources:
        **needs("report"),
    params:
        settings=config["report"],
    script:
        "../scripts/report.py"


# Beside the report and none of its inputs: two runs take different times, their report is the same.
rule job_times:
    input:
        costs=[*costs(), *sets_costs()],
        code=sources("job_times.py"),
    output:
        "results/times/jobs.tsv",
    log:
        "logs/job_times.log",
    script:
        "../scripts/job_times.py"
