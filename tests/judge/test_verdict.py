"""The seven verdicts, their order and their names."""

from gradproof.judge.verdict import Verdict, worst


def test_there_are_seven_verdicts_with_a_sentence_each() -> None:
    names = {"correct", "inaccurate", "wrong", "undefined", "missing", "nonfinite", "unverified"}
    assert {str(verdict) for verdict in Verdict} == names
    assert all(verdict.sentence for verdict in Verdict)


def test_a_verdict_is_found_by_its_name() -> None:
    assert Verdict("wrong") is Verdict.WRONG


def test_the_worst_verdict_is_the_most_severe() -> None:
    assert worst(Verdict) is Verdict.WRONG
    assert worst([Verdict.UNVERIFIED, Verdict.CORRECT]) is Verdict.UNVERIFIED
    assert worst([]) is None


def test_what_cannot_be_used_as_a_gradient_is_a_fault() -> None:
    faults = {Verdict.INACCURATE, Verdict.MISSING, Verdict.NONFINITE, Verdict.WRONG}
    assert {verdict for verdict in Verdict if verdict.is_fault} == faults
