"""PyTorch's end of the rows of a GPU: reads `ROW TAB SECONDS` a line, answers {"micros": the median of one op or training step}. Eager mode, full floats
(no TF32), channels last."""

import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

GPU = "cuda"
SIDE, N = 8192, 1 << 26


def matrix(dtype=torch.float32):
    return torch.rand(SIDE, SIDE, device=GPU, dtype=torch.float32).to(dtype)


def image(*dims):
    return torch.rand(*dims, device=GPU).contiguous(memory_format=torch.channels_last)


def op_of(name):
    """(a function of one op, how many of them make a step)"""
    if name == "gpu-add":
        x, y = torch.rand(N, device=GPU), torch.rand(N, device=GPU)
        return lambda: x + y, 20
    if name == "gpu-exp":
        x = torch.rand(N, device=GPU)
        return lambda: torch.exp(x), 20
    if name == "gpu-add-row":
        x, y = matrix(), torch.rand(SIDE, device=GPU)
        return lambda: x + y, 20
    if name.startswith("gpu-sum-"):
        x, axes = matrix(), {"rows": 1, "columns": 0, "all": (0, 1)}[name.removeprefix("gpu-sum-")]
        return lambda: x.sum(axes), 20
    if name == "gpu-softmax":
        x = matrix()
        return lambda: torch.softmax(x, 1), 20
    if name == "gpu-transpose":
        x = matrix()
        return lambda: x.t().contiguous(), 20
    if name == "gpu-transpose-0213":
        x = torch.rand(64, 1024, 16, 64, device=GPU)
        return lambda: x.transpose(1, 2).contiguous(), 20
    if name == "gpu-gather":
        x, rows = matrix(), torch.arange(SIDE, device=GPU) * 2654435761 % SIDE
        return lambda: x[rows], 20
    if name.startswith("gpu-matmul-"):
        dtype = torch.bfloat16 if name.endswith("bf16") else torch.float32
        x, y = matrix(dtype), matrix(dtype)
        return lambda: x @ y, 5
    if name == "gpu-max-pool":
        x = image(32, 64, 112, 112)
        return lambda: F.max_pool2d(x, 3, 2, 1), 20
    if name == "gpu-batch-norm":
        x, norm = image(32, 64, 112, 112), nn.BatchNorm2d(64).to(GPU)
        return lambda: norm(x), 20
    if name == "gpu-conv":
        x, w = image(32, 256, 28, 28), image(256, 256, 3, 3)
        return lambda: F.conv2d(x, w, padding=1), 20
    if name == "gpu-chain":
        one, x = torch.ones((), device=GPU), torch.ones((), device=GPU)
        return lambda: x + one, 1000
    return None


class EncoderLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads

    def forward(self, x):
        batch, length, width = x.shape

        def split(y):
            return y.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
        query, key, value = split(self.query(x)), split(self.key(x)), split(self.value(x))
        mixed = torch.softmax(query @ key.transpose(-1, -2) * (width // self.heads) ** -0.5, -1) @ value
        x = self.norm1(x + self.output(mixed.transpose(1, 2).reshape(batch, length, width)))
        return self.norm2(x + self.narrow(F.gelu(self.wide(x))))


class Encoder(nn.Module):
    def __init__(self, width=256, length=128):
        super().__init__()
        self.words, self.positions = nn.Embedding(8000, width), nn.Parameter(torch.rand(length, width))
        self.layers = nn.Sequential(*[EncoderLayer(width, 4) for _ in range(4)])

    def forward(self, ids):
        return self.layers(self.words(ids) + self.positions)


def model_of(name):
    """(model, loss of its output and the labels, the optimizer of its parameters, input, labels)"""
    labels = torch.arange(128) % 10
    if name == "gpu-mlp-adam":
        model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))
        return model, F.cross_entropy, lambda p: torch.optim.Adam(p, 1e-3), torch.rand(128, 784), labels
    if name == "gpu-cnn-adam":
        model = nn.Sequential(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
                              nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 10))
        return model, F.cross_entropy, lambda p: torch.optim.Adam(p, 1e-3), torch.rand(128, 1, 28, 28), labels
    if name == "gpu-transformer-adam":
        ids = (torch.arange(4 * 128) % 10).view(4, 128)
        return Encoder(), lambda y, _: y.square().mean(), lambda p: torch.optim.Adam(p, 1e-4), ids, labels
    batch = int(name.rpartition("-b")[2])
    import torchvision
    model = torchvision.models.resnet50().to(memory_format=torch.channels_last)
    return model, F.cross_entropy, lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), torch.rand(batch, 3, 224, 224), torch.arange(batch) % 10


def training_step(name):
    model, loss_of, optimizer_of, x, labels = model_of(name)
    model.to(GPU)
    optimizer = optimizer_of(model.parameters())
    x, labels = x.pin_memory(), labels.pin_memory()

    def step():
        inputs, wanted = x.to(GPU, non_blocking=True), labels.to(GPU, non_blocking=True)
        if inputs.dim() == 4:
            inputs = inputs.contiguous(memory_format=torch.channels_last)
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(inputs), wanted)
        loss.backward()
        optimizer.step()
        return loss.item()
    return step


def make(name):
    op = op_of(name)
    if not op:
        return training_step(name), 1
    once, copies = op

    def step():
        for _ in range(copies):
            once()
        torch.cuda.synchronize()
    return step, copies


def measure(step, seconds):
    times, begun = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begun < seconds:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e6


def main():
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    known = None, None, 0
    for line in sys.stdin:
        name, seconds = line.split()
        try:
            if known[0] != name:
                known = name, None, 0  # what the row before held is freed
                torch.cuda.empty_cache()
                known = name, *make(name)
                measure(known[1], 0)
            answer = {"micros": measure(known[1], float(seconds)) / known[2]}
        except Exception as error:  # a row that it cannot run is a row without its figure
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
