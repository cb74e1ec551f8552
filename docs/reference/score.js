// Score samples with a model.json of genesig: node score.js model.json new.tsv
// docs/reference/model.md lists what is not supported.
const read = file => require("fs").readFileSync(file, "utf8"), files = process.argv.slice(2);
const model = JSON.parse(read(files[0])), lines = read(files[1]).trim().split(/\r?\n/);
const [[, ...samples], ...rows] = lines.map(line => line.split("\t"));
if (model.format !== "genesig linear model") throw Error("another format");
if (model.version !== 6) throw Error("covariates, or another version");
if (Array.isArray(model.classes)) throw Error("more than two classes");
const table = new Map(rows.map(([gene, ...row]) => [gene, row.map(v => v ? Number(v) : NaN)]));
if (table.size < rows.length) throw Error("a gene occurs twice");
const mean = x => x.reduce((a, b) => a + b, 0) / x.length;
const rank = x => { const at = new Map();
  Float64Array.from(x).sort().forEach((v, k) => at.set(v, [(at.get(v) ?? [k])[0], k]));
  return x.map(v => mean(at.get(v)) + 1); };
const keep = (x, s) => s.genes.map(k => x[k]), centred = x => { const m = mean(x); return x.map(v => v - m); };
const known = { detection_filter: keep, variance_filter: keep, fold_filter: keep, range_filter: keep,
  log2: (x, s) => x.map(v => Math.log2(Math.min(Math.max(v, s.floor), s.ceiling))),
  log_cpm: (x, s) => { const sum = mean(x) * x.length; return x.map(v => Math.log2(1e6 * v / sum + s.prior)); },
  standardise_samples: x => { const c = centred(x), sd = Math.sqrt(mean(c.map(v => v * v))); return c.map(v => v / sd); },
  rank_samples: x => rank(x).map(r => (r - 0.5) / x.length),
  quantile: (x, s) => rank(x).map(r => (s.target[Math.floor(r) - 1] + s.target[Math.ceil(r) - 1]) / 2) };
const chosen = model.models.find(one => one.list === model.answer), { genes, steps } = model.normalisation;
console.log("sample\tscore\tpredicted");
samples.forEach((sample, k) => {
  let names = steps.length ? genes : chosen.genes, x = names.map(gene => (table.get(gene) ?? [])[k]);
  if (!x.every(Number.isFinite)) throw Error(`${sample} lacks a gene, or a value is no number`);
  for (const step of steps) {
    if (!Object.hasOwn(known, step.step)) throw Error(`unknown step ${step.step}`);
    x = known[step.step](x, step); names = step.genes ? keep(names, step) : names; }
  const at = new Map(names.map((gene, j) => [gene, x[j]]));
  const score = chosen.genes.reduce((sum, gene, j) => sum + at.get(gene) * chosen.coefficients[j], chosen.intercept);
  if (!Number.isFinite(score)) throw Error(`${sample} has no score`);
  console.log([sample, score, model.classes?.[score > (chosen.decision?.threshold ?? model.threshold) ? "positive" : "negative"] ?? score].join("\t")); });
