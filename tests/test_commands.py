"""Printed commands are for a shell: what the data or the user wrote is never shell text."""

import shlex
from pathlib import Path

from builders import bare_release, build, constrains, product, release, request, shown, universe
from conftest import clock

from compatkb.doctor.machine import Installed, Machine
from compatkb.doctor.questions import KnownData
from compatkb.doctor.upgrade_path import UpgradePath, UpgradeStep
from compatkb.engine.answer import resolve
from compatkb.output.commands import pip_commands, proof_command, requirements
from compatkb.output.payload import stack_payload
from compatkb.output.presenter import present
from compatkb.output.registry import Wanted
from compatkb.output.text import answer_text


def test_bounds_are_quoted(tmp_path: Path) -> None:
    """`<` redirects in a shell, so a bound is quoted."""
    other = product("other", role="leaf", distribution="other", releases=[bare_release("1.0"), bare_release("3.0")])
    torch = product("torch", distribution="torch", releases=["2.0.0"], claims=[constrains("torch==2.0.0", "other<2")])
    facts = universe(tmp_path, [torch, other])
    (stack,) = resolve(facts, request(facts, bare=["torch"])).stacks
    (line,) = pip_commands(shown(facts, stack))
    assert shlex.split(line)[4:6] == ["torch==2.0.0", "other<2"]
    assert "other<2" in requirements(shown(facts, stack)).splitlines()


def test_proof_command_is_one_python_argument(tmp_path: Path) -> None:
    """The assertion that follows an installation compiles, and names the exact builds."""
    torch = product(
        "torch", distribution="torch", import_name="torch", releases=[release("2.0.0", builds=[build("2.0.0+xpu")])]
    )
    facts = universe(tmp_path, [torch])
    (stack,) = resolve(facts, request(facts, bare=["torch"])).stacks
    proof = proof_command(shown(facts, stack))
    assert proof
    python, option, code = shlex.split(proof)
    assert (python, option) == ("python", "-c")
    compile(code, "proof", "exec")
    assert "'torch': '2.0.0+xpu'" in code
    assert "import torch" in code


def test_a_build_goes_by_the_name_under_which_it_is_installed(tmp_path: Path) -> None:
    """Where a product was once distributed under another name, commands, proof and lists have that of the build."""
    builds = [release("3.4.0", builds=[build("3.4.0", distribution="old-name")]), release("3.6.0", builds=[build("3.6.0")])]
    backend = product("backend", distribution="new-name", import_name="backend", releases=builds)
    facts = universe(tmp_path, [product("torch", distribution="torch", releases=["2.0.0"]), backend])
    for version, name, text in (("3.4.0", "old-name", "old-name 3.4.0"), ("3.6.0", "new-name", "backend 3.6.0")):
        asked = request(facts, {"backend": version})
        answer = resolve(facts, asked)
        (stack,) = answer.stacks
        (line,) = pip_commands(shown(facts, stack))
        assert f"{name}=={version}" in shlex.split(line)
        assert f"'{name}': '{version}'" in (proof_command(shown(facts, stack)) or "")
        assert f"{name}=={version}" in requirements(shown(facts, stack)).splitlines()
        content = stack_payload(shown(facts, stack, asked))
        assert content["packages"] == {"torch": "2.0.0", "backend": version}
        assert content["distributions"] == {"backend": name}
        assert text in answer_text(present(facts, answer), Wanted(why=True))
        assert facts.distribution("backend", version) == name
    assert KnownData(facts).modules() == {"old-name": "backend", "new-name": "backend"}


def test_a_package_that_was_renamed_is_taken_out_under_its_old_name(tmp_path: Path) -> None:
    """Installers leave a distribution of another name where it is, and both would own the same files."""
    builds = [release("3.4.0", builds=[build("3.4.0", distribution="old-name")]), release("3.6.0", builds=[build("3.6.0")])]
    backend = product("backend", distribution="new-name", releases=builds)
    facts = universe(tmp_path, [product("torch", distribution="torch", releases=["2.0.0"]), backend])
    (stack,) = resolve(facts, request(facts, {"backend": "3.6.0"})).stacks
    machine = Machine("here", packages=(Installed("old_name", "3.4.0"),))
    steps = UpgradePath(facts, machine, clock()).steps_to(stack)
    assert steps[1:] == (UpgradeStep("old_name", "3.4.0", None), UpgradeStep("new-name", None, "3.6.0"))
    machine = Machine("here", packages=(Installed("new_name", "3.4.0"),))
    assert UpgradePath(facts, machine, clock()).steps_to(stack)[1:] == (UpgradeStep("new-name", "3.4.0", "3.6.0"),)
