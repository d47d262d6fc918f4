# SPDX-License-Identifier: Apache-2.0
import pytest
from gpufl.analyzer import GpuFlightSession
from gpufl.report import HtmlReport, TextReport, generate_report
from recordings import GPT, gpufl


def test_generate_report_returns_and_writes(tmp_path):
    path = tmp_path / "report.txt"
    text = generate_report(GPT, log_prefix="h200", top_n=3, output_path=path)
    assert text == path.read_text(encoding="utf-8") == gpufl("report", GPT, "--top", "3")
    assert generate_report(GPT, top_n=3) == text


def test_all_of_it_is_there_for_those_who_ask():
    full = gpufl("report", GPT, "--full")
    assert generate_report(GPT, full=True) == full
    assert TextReport(GpuFlightSession(GPT), full=True).generate() == full
    assert len(TextReport(GpuFlightSession(GPT)).generate().splitlines()) <= 45 < len(full.splitlines())


@pytest.mark.parametrize(("name", "form"), [("a.html", "html"), ("a.md", "md"), ("a.json", "json")])
def test_ending_of_the_file_tells_the_format(tmp_path, name, form):
    text = generate_report(GPT, output_path=tmp_path / name)
    assert text == GpuFlightSession(GPT).report(form)
    assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_unknown_format():
    with pytest.raises(ValueError, match="pdf"):
        generate_report(GPT, format="pdf")


def test_text_report(tmp_path, capsys):
    report = TextReport(GpuFlightSession(GPT), top_n=3)
    text = report.generate()
    report.print()
    assert capsys.readouterr().out == text
    report.save(tmp_path / "report.txt")
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == text
    assert "ledger " in text


def test_html_report(tmp_path):
    report = HtmlReport(GpuFlightSession(GPT))
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.generate()
    assert report.generate().lower().startswith("<!doctype html>")
    assert "<iframe srcdoc=" in report._repr_html_()
