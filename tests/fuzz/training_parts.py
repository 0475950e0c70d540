"""Statements of programs about what surrounds training: loaders, autocast, states of modules,
distributions, first values (`training.py`).
"""

from training_grammar import FLAG, keywords

DATA_START = """class Numbers(data.Dataset):
    def __init__(self, n, first=0):
        self.n, self.first = n, first
    def __len__(self):
        return self.n
    def __getitem__(self, k):
        if not 0 <= k < self.n:
            raise IndexError(k)
        return self.first + k
class Pairs(Numbers):
    def __getitem__(self, k):
        return torch.full((2,), float(k)), {'k': k, 'name': f'n{k}'}
class Batches(Numbers):
    def __getitems__(self, ks):
        return [10 * k for k in ks]
class Stream(data.IterableDataset):
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        info = data.get_worker_info()
        if info is None:
            return iter(range(self.n))
        return iter(range(info.id, self.n, info.num_workers))
class Counted(Stream):
    def __len__(self):
        return self.n
def joined(items):
    return len(items), items
def started(k):
    torch.started = k
def ordered(found):
    found = list(found)
    try:
        return sorted(found)
    except (TypeError, RuntimeError, ValueError):
        return len(found)
t, u = drawn(7, 2), torch.arange(7)
maps = data.TensorDataset(t, u)
"""
DATASETS = [
    "maps", "Numbers(7)", "Pairs(5)", "Batches(6)", "Stream(7)", "Counted(5)", "list(range(9))",
    "data.Subset(maps, [4, 0, 2])", "data.Subset(Numbers(7), range(1, 6, 2))", "data.Subset("
    "data.Subset(Numbers(9), [8, 6, 4, 2]), [3, 0])", "data.ConcatDataset([Numbers(3),"
    " Numbers(2, 50)])", "Numbers(2) + Numbers(3, 9)", "data.ChainDataset([Stream(3), Stream(2)])",
    "Stream(2) + Stream(3)", "data.StackDataset(Numbers(4), Numbers(4, 7))",
    "data.StackDataset(a=Numbers(3), b=u[:3])", "data.TensorDataset(t)", "t", "Numbers(0)",
    "data.TensorDataset(t, u[:3])", "data.ConcatDataset([])", "data.ConcatDataset([Stream(2)])",
    "data.StackDataset(Numbers(2), Numbers(3))", "data.StackDataset()", "'abcde'",
    "[{'a': 1, 'b': [1.5, 2]}, {'a': 3, 'b': [4.5, 5]}, {'a': 0, 'b': [0.5, 1]}]",
    "[numpy.float32(k) for k in range(5)]", "[numpy.arange(k, k + 2) for k in range(4)]",
    "[(1, 'a', None), (2, 'b', None)]", "[(True, 2.5), (False, 1.0), (True, 0.0)]",
    "[b'a', b'b']", "[[1, [2, 3]], [4, [5, 6]]]", "[[1, 2], [3]]", "[numpy.array('a')] * 2",
]  # fmt: skip
SAMPLERS = [
    "data.SequentialSampler(given)", "[3, 1, 0]", "range(0, 4, 2)", "iter([0, 2])",
    "data.SubsetRandomSampler([2])", "data.WeightedRandomSampler([0, 0, 1.0], 4)",
    "data.WeightedRandomSampler([0.0, 1.0], 3, replacement=True)",
    "data.RandomSampler(range(1), replacement=True, num_samples=3)",
    "data.RandomSampler(range(1))", "data.RandomSampler(range(1), num_samples=2)",
]  # fmt: skip
BATCH_SAMPLERS = [
    "data.BatchSampler(data.SequentialSampler(given), 2, True)", "[[0, 1], [2]]",
    "data.BatchSampler(range(3), batch_size=2, drop_last=False)", "[[0], [1, 1]]",
]  # fmt: skip
LOADER = [
    ("batch_size", [1, 2, 3, 3, None, 0, "2.0"]), ("drop_last", FLAG), ("shuffle", [False, None]),
    ("collate_fn", ["joined", "list", "lambda x: x[0]", "data.default_collate"]),
    ("pin_memory", [False]), ("timeout", [0, -1]), ("generator", ["torch.Generator()"]),
    ("prefetch_factor", [None, 2]), ("persistent_workers", FLAG), ("in_order", [True]),
    ("worker_init_fn", ["started", None]), ("num_workers", [0, 0, 0, -1, 1]),
]  # fmt: skip
SAMPLED = [
    "s = data.BatchSampler(range(7), 3, {flag}); see(list(s), len(s))",
    "see(sorted(data.RandomSampler(Numbers(6))), len(data.RandomSampler(Numbers(6))))",
    "see(len(list(data.RandomSampler(range(4), True, 9))))",
    "see(sorted(data.RandomSampler(range(3), num_samples=6)))",
    "see(set(data.RandomSampler(range(3), num_samples=2)) <= {0, 1, 2})",
    "data.RandomSampler(range(3), num_samples=0)", "data.RandomSampler(range(3), replacement=2)",
    "list(data.RandomSampler([]))", "data.BatchSampler(range(3), 0, True)",
    "data.BatchSampler(range(3), 2, 1)", "data.BatchSampler(range(3), True, False)",
    "data.BatchSampler(range(3), 2.0, False)",
    "see(sorted(data.WeightedRandomSampler([1.0, 2.0, 3.0], 3, replacement=False)))",
    "see(set(data.WeightedRandomSampler([0.0, 2.0, 3.0], 30)))",
    "list(data.WeightedRandomSampler([0.0, 2.0, 3.0], 3, replacement=False))",
    "list(data.WeightedRandomSampler([1.0, 2.0], 3, replacement=False))",
    "data.WeightedRandomSampler([1.0, 2.0], 0)", "data.WeightedRandomSampler([1.0, 2.0], 2.5)",
    "data.WeightedRandomSampler([1.0, 2.0], 2, replacement=1)",
    "data.WeightedRandomSampler([[1.0, 2.0]], 2)", "list(data.WeightedRandomSampler([-1.0, 2], 2))",
    "see(sorted(data.SubsetRandomSampler([5, 7, 5])))",
    "see([len(s) for s in data.random_split(Numbers(10), {split})])",
    "see([len(s) for s in data.random_split(Numbers(10), {split}, torch.Generator()"
    ".manual_seed(3))])",
    "see(sorted(x for s in data.random_split(Numbers(10), [3, 7]) for x in s))",
    "see([list(s.indices) for s in data.random_split(Numbers(4), [1, 3],"
    " generator=torch.Generator().manual_seed(1))] == [list(s.indices) for s in"
    " data.random_split(Numbers(4), [1, 3], generator=torch.Generator().manual_seed(1))])",
    "see(list(data.distributed.DistributedSampler(Numbers(7), num_replicas=3, rank=1,"
    " shuffle=False, drop_last={flag})))",
    "see(len(data.distributed.DistributedSampler(Numbers(7), num_replicas=3, rank=1,"
    " drop_last={flag})))",
    "data.distributed.DistributedSampler(Numbers(7), num_replicas=3, rank=3)",
    "see(data.default_collate({batch}))", "see(data.default_convert({batch}))",
    "see(maps[2], maps[1:3], len(maps), maps[-1])", "maps[9]", "data.Subset(Numbers(3), [5])[0]",
    "see(data.ConcatDataset([Numbers(3), Numbers(2, 50)])[-1])",
    "data.ConcatDataset([Numbers(3), Numbers(2)])[-6]",
    "data.ConcatDataset([Numbers(3), Numbers(2)])[5]",
    "see(data.ConcatDataset([Numbers(3), Numbers(2)]).cumulative_sizes)",
]  # fmt: skip
BATCHES = [
    "[1, 2]", "[1.5, 2]", "[2, 1.5]", "[True, False]", "['a', 'b']", "[(1, 2.0), (3, 4.0)]",
    "[{'a': 1}, {'a': 2}]", "[t, t]", "[t[0], t[1]]", "[numpy.ones(2), numpy.zeros(2)]",
    "[numpy.float32(1), numpy.float32(2)]", "[numpy.int8(1)]", "[numpy.bool_(True)]", "[None]",
    "[1 + 2j]", "[[1, 2], [3]]", "[{'a': 1}, {'b': 2}]", "[]", "[t[0], u]", "[t.tolist()]",
    "[torch.tensor(1), torch.tensor(2)]", "[range(2), range(2)]", "[{1: {2: 3}}]", "[b'x']",
    "[numpy.array([1, 2], dtype='int16')]", "[numpy.float16(3)]", "(1, 2)", "{'a': numpy.ones(1)}",
    "[torch.float32]", "['a', 1]", "[1, 'a']", "numpy.ones((2, 2))", "t", "[2**40, 1]", "[2**70]",
]  # fmt: skip
SPLITS = ["[3, 7]", "[0.3, 0.7]", "[0.33, 0.33, 0.34]", "[3, 8]", "[0.5, 0.6]", "[1, 0.9]",
          "[0.25, 0.25]", "[10]", "[0, 10]", "[1.0]", "[0.15, 0.85]", "[-0.1, 1.1]"]  # fmt: skip


def loaders(rng):
    text = [DATA_START]
    for _ in range(rng.randint(3, 8)):
        if rng.random() < 0.5:
            made = rng.choice(SAMPLED)
            for mark, found in [("flag", FLAG), ("split", SPLITS), ("batch", BATCHES)]:
                made = made.replace("{" + mark + "}", str(rng.choice(found)))
            text.append(made)
            continue
        text.append(f"loader = None\ngiven = {rng.choice(DATASETS)}")
        more = keywords(rng, *rng.sample(LOADER, 4))
        if rng.random() < 0.2:
            more += f", sampler={rng.choice(SAMPLERS)}"
        if rng.random() < 0.15:
            more += f", batch_sampler={rng.choice(BATCH_SAMPLERS)}"
        text.append(f"loader = data.DataLoader(given{more})")
        text += ["see([b for b in loader])", "see(len(loader))"]
        if rng.random() < 0.3:
            text.append(rng.choice([
                "see(loader.batch_size, loader.drop_last, loader.num_workers)",
                "see(type(loader.batch_sampler).__name__)", "loader.num_workers = 0",
                "loader.collate_fn = list", "loader.batch_size = 4", "loader.dataset = maps",
                "see(next(iter(loader)))",
                "see([b for k, b in zip(range(2), loader)])", "see(len(loader.dataset))",
            ]))  # fmt: skip
        if rng.random() < 0.2:
            text.append(
                f"loader = data.DataLoader(given{keywords(rng, ('batch_size', [2, 3]))},"
                " shuffle=True)\nsee(len(loader), ordered([b for b in loader]) if"
                " type(given).__name__ == 'Numbers' and loader.batch_size == 1 else None)"
            )
    return text


CASTS = ["torch.bfloat16", "torch.float16", "None", "torch.float32"]
INPUTS = ["drawn(3, 3, dtype=torch.float32)", "drawn(3, 3, dtype=torch.float64)",
          "drawn(3, 3, dtype=torch.bfloat16)", "torch.arange(9).reshape(3, 3)",
          "drawn(3, 3, dtype=torch.float16)"]  # fmt: skip
OPERATIONS = """a @ b|torch.matmul(a, b)|torch.mm(a, b)|a.mm(b)|torch.bmm(a[None], b[None])|a + b
    torch.addmm(a, a, b)|torch.addmv(a[0], a, b[0])|torch.baddbmm(a[None], a[None], b[None])
    F.linear(a, b)|F.linear(a, b, a[0])|lin(a)|conv(a[None])|torch.einsum('ij,jk->ik', a, b)
    F.softmax(a, -1)|F.log_softmax(a, 1)|a.exp()|a.log()|a.pow(2)|a ** 2|a.sum()|a.mean()|a.prod()
    a.cumsum(0)|a.norm()|a.std()|a.var()|F.mse_loss(a, b)|F.l1_loss(a, b)|torch.cat([a, b])
    torch.stack([a, b])|F.layer_norm(a, (3,))|F.gelu(a)|F.relu(a)|torch.tanh(a)|torch.sigmoid(a)
    F.cross_entropy(a, torch.tensor([0, 1, 2]))|F.binary_cross_entropy_with_logits(a, b.float())
    F.binary_cross_entropy(a.sigmoid(), b.sigmoid())|F.smooth_l1_loss(a, b)|a * 2|a / b|a - 1.5
    F.scaled_dot_product_attention(a[None], b[None], a[None])|torch.where(a > 0, a, b)|a == b
    torch.dist(a, b)|torch.cdist(a, b)|F.normalize(a)|F.cosine_similarity(a, b)|torch.atan2(a, b)
    torch.dot(a[0], b[0])|torch.mv(a, b[0])|torch.outer(a[0], b[0])|torch.tensordot(a, b, 1)
    F.avg_pool1d(a[None], 2)|F.max_pool1d(a[None], 2)|F.interpolate(a[None, None], scale_factor=2)
    F.group_norm(a[None], 3)|F.batch_norm(a, None, None, training=True)|torch.linalg.norm(a)
    torch.linalg.inv(a)|torch.det(a)|F.huber_loss(a, b)|F.kl_div(a, b)
    F.nll_loss(a, torch.arange(3))|a.trace()
    F.embedding(torch.tensor([0, 2]), a)|torch.addcmul(a, a, b)|torch.lerp(a, b, 0.5)|a.square()
    torch.logsumexp(a, 0)|torch.rsqrt(a.abs())|torch.erfinv(a)|a.softmax(0)
    nn.LSTM(3, 2)(a.float())[0]|a.diagonal()
    nn.GRU(3, 2)(a.float())[0]|nn.MultiheadAttention(3, 1)(a.float(), a.float(), a.float())[0]
    nn.LayerNorm(3)(a.float())|nn.BatchNorm1d(3)(a.float())|nn.Embedding(4, 2)(torch.tensor([1]))
    nn.Bilinear(3, 3, 2)(a.float(), a.float())|torch.chain_matmul(a, b)
    torch.linalg.multi_dot([a, b])|a.amax()
    torch.addbmm(a, a[None], b[None])|torch.inner(a, b)|torch.kron(a, b)|a.T @ b|a.__rmatmul__(b)
    F.pad(a, (1, 1))|F.pad(a[None], (1, 1), mode='reflect')|F.cosine_embedding_loss(a, b, a[0])
    F.poisson_nll_loss(a, b)|F.triplet_margin_loss(a, b, a)|F.ctc_loss|torch.trapz(a)|a.cumprod(1)
    torch.fft.fft(a)|torch.median(a)|a.quantile(0.5)|torch.polar(a, b)|torch.renorm(a, 2, 0, 1.0)
    F.conv1d(a[None], b[None])|F.conv_transpose1d(a[None], b[:, :, None])|F.instance_norm(a[None])
    torch.matrix_exp(a)|torch.linalg.svd(a)[1]|torch.linalg.solve(a, b)|torch.trace(a)|torch.tril(a)
    F.elu(a)|F.selu(a)|F.softplus(a)|F.silu(a)|F.hardtanh(a)|F.rrelu(a)|F.dropout(a, 0.0)
    F.glu(a[:2].T)|a.amin()
    a.clone().add_(b)|a.clone().addmm_(a, b)|a.clone().copy_(b)|a.new_zeros(2)|torch.zeros(2)"""
OPERATIONS = [op.strip() for line in OPERATIONS.splitlines() for op in line.split("|")]


def casts(rng):
    text = ["lin, conv = nn.Linear(3, 2), nn.Conv1d(3, 2, 2)"]
    for _ in range(3):
        a = rng.choice([*INPUTS[:3], INPUTS[0]])
        text.append(f"a = {a}\nb = {a}")
        for _ in range(4):
            op = rng.choice(OPERATIONS)
            kind = rng.choice(CASTS[:3])
            head = f"with torch.autocast('cpu', dtype={kind}{keywords(rng, ('enabled', FLAG))}):\n"
            if rng.random() < 0.2:
                head = f"with torch.amp.autocast('cpu', {kind}):\n"
            inner = f"    see(str(({op}).dtype), torch.is_autocast_enabled('cpu'))\n"
            if rng.random() < 0.2:
                inner += "    with torch.autocast('cpu', enabled=False):\n"
                inner += f"        see(str(({op}).dtype))\n"
            text.append(head + inner)
    text.append(
        "lin.zero_grad()\nwith torch.autocast('cpu', dtype=torch.bfloat16):\n    out = lin(drawn(2,"
        " 3, dtype=torch.float32))\n    loss = (out.float() ** 2).mean()\nloss.backward()\n"
        "see(str(out.dtype), str(loss.dtype), str(lin.weight.grad.dtype))"
    )
    return text


MODULES = """class Inner(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.lin = nn.Linear(n, 2)
        self.register_buffer('mean', drawn(n))
        self.register_buffer('hidden', drawn(1), persistent=False)
        self.scale = nn.Parameter(drawn(1))
    def forward(self, x):
        return self.lin(x * self.scale) + self.mean.sum()
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Inner(), Inner()])
        self.table = nn.ParameterDict({'a': nn.Parameter(drawn(2)), 'b': nn.Parameter(drawn(1))})
        self.norm = nn.BatchNorm1d(2)
        self.tied = self.parts[0].lin
    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return self.norm(x) * self.table['a']
def filled(net):
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(drawn(*p.shape))
    return net.to(see.dtype)
net, other = filled(Outer()), filled(Outer())
x = drawn(4, 2)
def show(n):
    see({k: v for k, v in n.state_dict().items()}, n.parts[0].hidden)
"""
STATES = [
    "see(list(net.state_dict()))", "see([k for k, _ in net.named_parameters()])",
    "see([k for k, _ in net.named_parameters(remove_duplicate=False)])",
    "see([k for k, _ in net.named_buffers()], [k for k, _ in net.named_modules()])",
    "see([k for k, _ in net.named_children()], len(list(net.modules())))",
    "see(net.load_state_dict(other.state_dict()))\nshow(net)",
    "see(net.load_state_dict({k: v for k, v in list(other.state_dict().items())[2:]}))",
    "see(net.load_state_dict({k: v for k, v in list(other.state_dict().items())[2:]},"
    " strict=False))\nshow(net)",
    "see(net.load_state_dict({**other.state_dict(), 'more': x}, strict=False))",
    "net.load_state_dict({**other.state_dict(), 'more': x})", "net.load_state_dict([1])",
    "net.load_state_dict({**other.state_dict(), 'norm.weight': drawn(3)})\n", "show(net)",
    "net.load_state_dict({**other.state_dict(), 'norm.weight': drawn(3)}, strict=False)\n",
    "net.load_state_dict({**other.state_dict(), 'table.b': torch.tensor(2.0)})\nshow(net)",
    "net.load_state_dict({**other.state_dict(), 'table.b': 3.0})\n",
    "see(net.load_state_dict(copy.deepcopy(other.state_dict()), assign=True))\nshow(net)\n"
    "see(net.tied.weight is net.parts[0].lin.weight)",
    "state = net.state_dict(prefix='p.'); see(list(state))",
    "state = net.state_dict(keep_vars=True); see([v.requires_grad for v in state.values()])",
    "state = net.state_dict(); state['table.a'].zero_(); show(net)",
    "state = {k: v.clone() for k, v in net.state_dict().items()}",
    "net.load_state_dict(state); show(net)", "torch.save(net.state_dict(), file := io.BytesIO());"
    " file.seek(0); net.load_state_dict(torch.load(file, map_location='cpu')); show(net)",
    "see(net(x))", "net(x).sum().backward()", "net.zero_grad()", "net.eval(); see(net.training)",
    "net.train()", "net.norm.train(); see(net.training, net.norm.training)",
    "net = net.float().to(see.dtype)",
    "net.double(); show(net)", "net.half(); see(str(net.norm.running_mean.dtype))",
    "net.to(see.dtype)", "net.requires_grad_(False); see([p.requires_grad for p in"
    " net.parameters()])", "net.requires_grad_(True)", "net = copy.deepcopy(net); show(net)\n"
    "see([p.grad for p in net.parameters()], net.tied is net.parts[0].lin)",
    "net.table['c'] = nn.Parameter(drawn(1)); see(list(net.table), len(net.table))",
    "del net.table['b']", "net.parts.append(filled(Inner())); see(len(net.parts))",
    "net.parts[1] = filled(Inner())",
    "net.extra = nn.Linear(1, 1)\nfilled(net)", "del net.extra", "net.mean = 3; see(net.mean)",
    "net.parts[0].mean = drawn(2); show(net)",
    "net.parts[0].mean = None; see(list(net.state_dict()))",
    "net.parts[0].mean = 'text'", "net.parts[0].scale = drawn(1)", "net.parts[0].scale = None;"
    " see(list(net.state_dict()))", "net.parts[0].scale = nn.Parameter(drawn(1)); show(net)",
    "net.apply(lambda m: nn.init.constant_(m.weight, 0.5) if isinstance(m, nn.Linear) else None)\n"
    "show(net)", "see(net.get_parameter('parts.1.scale'), net.get_buffer('norm.running_var'))",
    "see(type(net.get_submodule('parts.0.lin')).__name__)", "net.get_submodule('parts.7')",
    "net.get_parameter('norm.running_mean')", "net.register_buffer('a.b', drawn(1))",
    "net.register_parameter('q', drawn(1))", "net.register_parameter('q', None); see(net.q)",
    "net.add_module('m', nn.Linear(2, 2)); see(type(net.m).__name__)\nfilled(net)",
    "hook = net.register_state_dict_post_hook(lambda m, s, p, meta: s.pop('norm.weight', None) and"
    " None)\nsee(list(net.state_dict())); hook.remove()",
    "hook = net.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())\n"
    "see(net.load_state_dict({}, strict=True)); hook.remove()",
    "hook = net.register_load_state_dict_pre_hook(lambda m, state, *a: state.pop('more', None))\n"
    "see(net.load_state_dict({**other.state_dict(), 'more': 1})); hook.remove()",
    "hook = net.register_state_dict_pre_hook(lambda m, p, k: see('saving', p))\n"
    "net.state_dict(); hook.remove()",
    "hook = net.register_forward_hook(lambda m, a, out: out * 2)\nsee(net(x)); hook.remove()",
    "hook = net.register_forward_pre_hook(lambda m, a: (a[0] + 1,))\nsee(net(x)); hook.remove()",
    "hook = net.norm.register_full_backward_hook(lambda m, gi, go: see(len(gi), go[0]))\n"
    "net(x).sum().backward(); hook.remove()",
    "utils.parametrizations.weight_norm(net.parts[0].lin); see(sorted(net.state_dict()))\n"
    "see(net.parts[0].lin.weight)", "utils.parametrizations.orthogonal(net.parts[1].lin)\n"
    "w = net.parts[1].lin.weight; see((w @ w.T).round(decimals=4))",
    "utils.parametrize.remove_parametrizations(net.parts[0].lin, 'weight'); show(net)",
    "utils.prune.l1_unstructured(net.parts[0].lin, 'weight', 0.5); see(sorted(net.state_dict()))\n"
    "see(net.parts[0].lin.weight)", "utils.prune.remove(net.parts[0].lin, 'weight'); show(net)",
    "c = copy.deepcopy(net.parts[0]); utils.prune.random_unstructured(c.lin, 'bias', amount=1)\n"
    "see(int((c.lin.bias_mask == 0).sum()))",
    "utils.prune.ln_structured(net.parts[1].lin, 'weight', 0.5, n=2, dim=0); see(net(x))",
    "utils.prune.global_unstructured([(p.lin, 'weight') for p in net.parts],"
    " utils.prune.L1Unstructured, amount=0.4); see(net(x))",
    "see(sum(p.numel() for p in net.parameters()))", "see(net.norm.num_batches_tracked)",
    "w = drawn(3, 3); see(init.eye_(w), init.constant_(w, 2.5), init.ones_(w), init.zeros_(w))",
    "w = drawn(2, 2, 3); see(init.dirac_(w), init.dirac_(drawn(4, 2, 3), groups=2))",
    "init.eye_(drawn(2))", "init.dirac_(drawn(2, 2))", "init.xavier_uniform_(drawn(2))",
    "init.orthogonal_(drawn(2))", "init.sparse_(drawn(2), 0.5)",
    "w = init.sparse_(drawn(4, 3), 0.5); see((w == 0).sum(0))",
    "w = init.orthogonal_(drawn(2, 3, dtype=torch.float64), gain=2.0); see(w @ w.T)",
    "w = init.trunc_normal_(drawn(30), 0.0, 1.0, -0.5, 0.5); see(bool((w.abs() <= 0.5).all()))",
    "w = init.xavier_uniform_(drawn(30, 20), 2.0); see(bool(w.abs().max() <= 2 * (6 / 50) ** 0.5))",
    "w = init.kaiming_uniform_(drawn(30, 20), mode='fan_out', nonlinearity='relu')\n"
    "see(bool(w.abs().max() <= (6 / 30) ** 0.5), bool(w.abs().max() > 0.9 * (6 / 30) ** 0.5))",
    "init.kaiming_normal_(drawn(3, 2), mode='fan')", "init.kaiming_normal_(drawn(3, 2),"
    " nonlinearity='none')", "see([init.calculate_gain(n, p) for n, p in [('relu', None), ('tanh',"
    " None), ('leaky_relu', 0.3), ('selu', None), ('conv2d', None), ('sigmoid', None)]])",
    "init.calculate_gain('leaky_relu', 'a')", "init.calculate_gain('gelu')",
    "see(init._calculate_fan_in_and_fan_out(drawn(3, 4, 2, 5)))", "init.uniform_(drawn(3), 2, 1)",
]  # fmt: skip


def modules(rng):
    return [MODULES, *rng.choices(STATES, k=rng.randint(4, 10)), "show(net)"]


KINDS = {"loaders": loaders, "casts": casts, "modules": modules}
