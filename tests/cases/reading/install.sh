#!/bin/bash
V=2.5.0
if [ "$1" = xpu ]; then
  pip install "torch==$V+xpu" \
     --index-url https://index.example/simple
elif other; then
  pip install intel-extension-for-pytorch
else
  pip install 'torch==2.5' numpy>=1.0 # a comment
fi
f() { pip install transformers; }
case $x in
 a|b) pip install deepspeed ;;
 *) pip install torchaudio;;
esac
cat <<EOF > x
pip install nope
EOF
A=1 uv pip install t${Z:-2} || pip install u
for v in 1 2; do pip install w==$v; done
conda create -n one python=3.10 && conda activate one
pip install inside
docker run --rm -it -v /a:/b intel/image:1.0 bash
