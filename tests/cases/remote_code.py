"""Code of repositories that is run; and what was looked at, is local, or decided elsewhere."""
import argparse

import datasets
import transformers
import vllm
from diffusers import DiffusionPipeline as Pipe
from huggingface_hub import hf_hub_download
from transformers import AutoConfig, AutoModelForCausalLM

from .loading import load

parser = argparse.ArgumentParser()
parser.add_argument("--trust", action="store_true")
args = parser.parse_args()
name = "someone/model"

a = transformers.AutoTokenizer.from_pretrained(name, trust_remote_code=True)  # TL704`trust_remote_code`
b = AutoModelForCausalLM.from_pretrained(name, trust_remote_code=True).eval()  # TL704`trust_remote_code`
c = Pipe.from_pretrained(name, trust_remote_code=True, revision="v1.0")  # TL704`trust_remote_code`
d = datasets.load_dataset("someone/data", trust_remote_code=True)["train"]  # TL704`trust_remote_code`
e = vllm.LLM(model=name, trust_remote_code=True)  # TL704`trust_remote_code`
f = AutoConfig.from_pretrained(name, trust_remote_code=True, revision=None)  # TL704`trust_remote_code`


def lazily(where):
    from transformers import pipeline

    return pipeline("text-generation", where, trust_remote_code=True)  # TL704`trust_remote_code`


g = AutoConfig.from_pretrained(name, trust_remote_code=args.trust)
h = AutoConfig.from_pretrained(name, trust_remote_code=False)
i = AutoConfig.from_pretrained(name, trust_remote_code=True, revision="0123456789abcdef0123456789abcdef01234567")
j = AutoConfig.from_pretrained("/models/mine", trust_remote_code=True)
k = load(name, trust_remote_code=True)
m = hf_hub_download(name, "config.json")
n = dict(trust_remote_code=True)
o = AutoConfig.from_pretrained(name, trust_remote_code=True, revision=args.revision)
