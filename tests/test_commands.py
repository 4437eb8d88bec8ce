"""Printed commands are for a shell: what the data or the user wrote is never shell text."""

import shlex
from pathlib import Path

from builders import bare_release, build, constrains, product, release, request, universe

from compatkb.engine.answer import resolve
from compatkb.rendering.commands import pip_commands, proof_command, requirements


def test_bounds_are_quoted(tmp_path: Path) -> None:
    """`<` redirects in a shell, so a bound is quoted."""
    other = product("other", role="leaf", distribution="other", releases=[bare_release("1.0"), bare_release("3.0")])
    torch = product("torch", distribution="torch", releases=["2.0.0"], claims=[constrains("torch==2.0.0", "other<2")])
    facts = universe(tmp_path, [torch, other])
    (stack,) = resolve(facts, request(facts, bare=["torch"])).stacks
    (line,) = pip_commands(facts, stack)
    assert shlex.split(line)[4:6] == ["torch==2.0.0", "other<2"]
    assert "other<2" in requirements(facts, stack).splitlines()


def test_proof_command_is_one_python_argument(tmp_path: Path) -> None:
    """The assertion that follows an installation compiles, and names the exact builds."""
    torch = product(
        "torch", distribution="torch", import_name="torch", releases=[release("2.0.0", builds=[build("2.0.0+xpu")])]
    )
    facts = universe(tmp_path, [torch])
    (stack,) = resolve(facts, request(facts, bare=["torch"])).stacks
    proof = proof_command(facts, stack)
    assert proof
    python, option, code = shlex.split(proof)
    assert (python, option) == ("python", "-c")
    compile(code, "proof", "exec")
    assert "'torch': '2.0.0+xpu'" in code
    assert "import torch" in code
