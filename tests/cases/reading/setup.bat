@echo off
setlocal
set "TORCH=2.8.0"
rem pip install torch==1.0
if not exist venv (
    python -m venv venv
    venv\Scripts\pip.exe install torch==%TORCH%
) else (
    call pip install torch==2.7.0
)
:late
pip install ^
    torchvision==0.23.0
