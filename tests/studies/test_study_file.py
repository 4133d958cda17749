"""A study file is read as it is written; what is wrong in it is said where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from edsim.errors import BadInputError, EdsimError
from edsim.studies.plan import Plan, plan_of
from edsim.studies.study_file import StudyFile, read_study


def written(folder: Path, *lines: str) -> StudyFile:
    file = folder / "mine.toml"
    file.write_text("\n".join(lines) + "\n")
    return read_study(file)


def planned(folder: Path, *lines: str) -> Plan:
    return plan_of(written(folder, 'cohort = "C"', *lines).study)


def refused(folder: Path, *lines: str) -> str:
    with pytest.raises(EdsimError) as refusal:
        planned(folder, *lines)
    return str(refusal.value)


def test_what_a_file_says_is_what_the_study_is(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        'cohort = "../C"',
        'models = ["markov", {name = "ngram:3", rules = ["greedy"], label = "three"}]',
        "draws = 3",
        "[synthetic]",
        "stays = 900",
    )
    markov, three = file.study.models
    assert (markov.name, three.label, three.rules) == ("markov", "three", ("greedy",))
    assert file.study.draws == 3 and file.study.synthetic is not None
    assert file.cohort == tmp_path / "../C" and file.results == tmp_path / "mine"


def test_every_rule_of_a_model_is_a_line_and_every_line_has_its_runs(tmp_path: Path) -> None:
    plan = planned(
        tmp_path,
        'models = ["markov", {name = "ngram:3", rules = ["vanilla", "top_k=4"]}, "oracle"]',
        'comparisons = [["ngram:3 top_k=4", "markov"]]',
        "rollout_seed = 5",
    )
    assert [arm.name for arm in plan.arms] == ["markov", "ngram:3", "ngram:3 top_k=4", "oracle"]
    (run,) = plan.runs(plan.arms[2])
    assert (run.producer, run.rule, run.rollout_seed) == ("ngram:3", "top_k=4", 5)
    assert len(plan.all_runs()) == 4
    assert [(a.name, b.name) for a, b in plan.pairs] == [("ngram:3 top_k=4", "markov")]


def test_what_is_trained_is_trained_for_every_seed_and_clocks_are_lines(tmp_path: Path) -> None:
    plan = planned(
        tmp_path,
        'models = ["markov", {name = "gru[width=16]", label = "gru", clocks = ["median", "sampled"]},',
        '  "joint", {name = "lstm@5", seeds = [8]}, "blend:0.5:gru+ngram:3"]',
        "seeds = [1, 2]",
        'device = "cuda"',
    )
    names = ["markov", "gru median", "gru sampled", "joint", "lstm@5", "blend:0.5:gru+ngram:3"]
    assert [arm.name for arm in plan.arms] == names
    assert [arm.producers for arm in plan.arms] == [
        ("markov",),
        ("gru[width=16]@1", "gru[width=16]@2"),
        ("gru[width=16]@1", "gru[width=16]@2"),
        ("joint@1", "joint@2"),
        ("lstm@5",),
        ("blend:0.5:gru@1+ngram:3", "blend:0.5:gru@2+ngram:3"),
    ]
    (markov,), (sampled, _) = plan.runs(plan.arms[0]), plan.runs(plan.arms[2])
    assert (markov.settings().device, sampled.settings().device) == ("cpu", "cuda")
    assert sampled.settings().clock == "sampled" and markov.settings().clock is None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['models = ["markov"]', 'lunches = "all"'], "line 3: there is no key 'lunches'. Did you mean 'launches'?"),
        (['models = ["markov"]', "[synthetic]", "stay = 9"], "line 4: there is no key 'stay' of `synthetic`. Did you mean 'stays'?"),
        (['models = [{name = "markov", rule = 1}]'], "line 2: there is no key 'rule' of `models` 1. Did you mean 'rules'?"),
        (['models = ["markov"]', 'draws = "two"'], "line 3: `draws` has to be a whole number."),
        (['models = ["markov"]', "draws = 1.5"], "line 3: `draws` has to be a whole number."),
        (['models = ["markov"]', 'rules = "greedy"'], "line 3: `rules` has to be a list in [ ]."),
        (['models = ["markov"]', 'device = "gpu"'], "line 3: `device` is 'cpu' or 'cuda'."),
        ([], "`models` is missing."),
        (["models = []"], "`models` names none"),
        (['models = ["markov"]', "draws = 0"], "`draws` must be at least 1, not 0."),
        (['models = ["markov"]', 'comparisons = [["a"]]'], "one of them has 1."),
        (["models = ["], "mine.toml is not TOML"),
        (['models = ["makrov"]'], "there is no model 'makrov'. Did you mean 'markov'?"),
        (['models = ["causal_transformer_al"]'], "there is no model 'causal_transformer_al'. Did you mean 'causal_transformer_all'?"),
        (['models = ["gruu[width=64]@1"]'], "Did you mean 'gru'?"),
        (['models = ["gru[widht=64]"]'], "Did you mean width?"),
        (['models = ["gru@first"]'], "a training seed is a whole number, as in gru@1."),
        (['models = ["transformer[supervision=every_position]"]'], "needs a causal network"),
        (['models = [{name = "joint", clocks = ["latice"]}]'], "model 'joint' has no clock 'latice': it has lattice. Did you mean 'lattice'?"),
        (['models = ["mine.rollouts.parquet"]'], "'mine.rollouts.parquet' is a file of rollouts"),
        (['models = ["none.npz"]'], "there is no checkpoint 'none.npz'"),
        (['models = ["ngram:9"]'], "ngram takes an order from 2 to 7"),
        (['models = ["markov"]', 'rules = ["top_q=2"]'], "there is no decoding rule 'top_q'. Did you mean 'top_p'?"),
        (['models = ["markov"]', 'metrics = ["jds"]'], "there is no measure 'jds' (did you mean 'jsd'?)"),
        (['models = ["markov"]', 'metrics = ["crps"]'], "measure 'crps' reads several draws"),
        (['models = ["markov"]', 'populations = ["weather"]'], "there is no population 'weather'. Known: triage"),
        (['models = ["markov"]', 'populations = ["rce"]'], "there is no population 'rce'. Did you mean 'race'?"),
        (['models = ["gru[supervision=every_positon]"]'], "there is no supervision 'every_positon': final_position, every_position. Did you mean 'every_position'?"),
        (['models = ["joint[network=lstmm]"]'], "Did you mean 'lstm'?"),
        (['models = ["joint[heads=join]"]'], "there are no heads 'join': regression, joint, time_bins. Did you mean 'joint'?"),
        (['models = ["joint[decay=cosin]"]'], "there is no decay 'cosin': none, cosine. Did you mean 'cosine'?"),
        (['models = ["gru[positions=all]"]'], "'positions' in 'gru[positions=all]' is no part of a recipe."),
        (['models = ["gru[zzz=1]"]'], "is no part of a recipe. There are supervision, epochs,"),
        (['models = ["markov"]', 'clocks = ["median"]'], "model 'markov' has no clock 'median': it has only its own."),
        (['models = ["oracle"]', 'rules = ["greedy"]'], "no decoding rule can be applied to it"),
        (['models = ["markov", "markov"]'], "two lines of the results would be called 'markov'"),
        (['models = ["markov"]', 'comparisons = [["markov", "markow"]]'], "Did you mean 'markov'?"),
        (['models = ["gru"]', "seeds = [3, 1, 3]"], "`seeds` names 3 twice: a seed is one model"),
        (['models = [{name = "gru", seeds = [2, 2]}]'], "`seeds` of model 'gru' names 2 twice"),
        (['models = ["blend:2:gru+ngram:3"]'], "'blend:2:gru+ngram:3' is no blend: write blend:W:A+B"),
        (['models = ["blend:nan:gru+ngram:3"]'], "is no blend"),
        (['models = ["blend:0.5:gru"]'], "is no blend"),
        (['models = ["blend:0.5:gru+ngram:3+markov"]'], "is no blend"),
        (['models = ["blend:0.5:oracle+ngram:3"]'], "'oracle' runs by itself and proposes nothing to be blended."),
        (['models = ["blend:0.5:ngram:3+oracle"]'], "'oracle' runs by itself and proposes nothing to be blended."),
        (['models = ["blend:0.5:gur+ngram:3"]'], "there is no model 'gur'. Did you mean 'gru'?"),
        (['models = [{name = "markov", label = "x y"}, {name = "marginal", label = "x-y"}]'], "the lines 'x y' and 'x-y' of the results would both be written to x-y.scores.json"),
        (['models = [{name = "markov", label = "A b"}, {name = "marginal", label = "a B"}]'], "would both be written to a-B.scores.json"),
        (['models = ["ngram:3", {name = "markov", label = "ngram-3"}]'], "the lines 'ngram:3' and 'ngram-3'"),
        (['models = ["gru", {name = "markov", label = "gru-1"}]', "seeds = [1, 2]"], "the lines 'gru' and 'gru-1' of the results would both be written to gru-1.scores.json"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_where_it_stands(
    lines: list[str], said: str, tmp_path: Path
) -> None:
    assert said in refused(tmp_path, *lines)


def test_lines_that_only_begin_alike_are_written_apart(tmp_path: Path) -> None:
    models = (
        'models = ["gru", {name = "markov", label = "gru-3"}, {name = "marginal", label = "gru-"}]'
    )
    assert len(planned(tmp_path, models, "seeds = [1, 2]").arms) == 3


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    said = refused(tmp_path, 'models = ["markov"]', "draws = true", "colour = 1")
    assert len(said.splitlines()) == 2 and "`draws`" in said and "'colour'" in said


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be read: no such file"):
        read_study(tmp_path / "none.toml")
