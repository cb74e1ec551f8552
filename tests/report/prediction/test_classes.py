"""The table of several classes counts groups in its intervals."""

from report_records import kind_arguments

from genesig.report.collect import StudyResults, collect
from genesig.report.page.section import Limits
from genesig.report.prediction.section import classes_section


def test_the_interval_of_a_class_counts_its_groups():
    data = collect(StudyResults(**kind_arguments("several_classes")))
    alone = classes_section(data, Limits(3, 5)).items[0].rows
    assert data["study"]["units"] == data["study"]["counts"]
    data["study"]["units"] = [count // 3 for count in data["study"]["counts"]]
    grouped = classes_section(data, Limits(3, 5)).items[0].rows
    for measure_alone, measure_grouped in zip(alone, grouped, strict=True):
        assert measure_alone[:3] == measure_grouped[:3]
        widths = [
            float(row[4].value) - float(row[3].value) for row in (measure_alone, measure_grouped)
        ]
        assert widths[1] > 1.3 * widths[0]
