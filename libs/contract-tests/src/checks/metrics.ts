import type { Surface } from '@pipeline/contract';
import type { Check } from './check.ts';
import { must, mustEqual } from './outcome.ts';
import { NO_CREDENTIAL } from './probe.ts';

/** One line of the text format: `name{label="value",…} number [timestamp]`. */
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)(?: -?\d+)?$/;
const COMMENT = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/;
const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];
/** Suffixes of the samples of a histogram or summary. */
const PARTS = /_(?:bucket|sum|count)$/;

export const metricsChecks = ({ routes }: Surface): Check[] =>
  routes.some(({ id }) => id === 'getMetricsText') ? [check] : [];

const check: Check = {
  suite: 'metrics',
  endpoint: 'getMetricsText',
  name: 'serves valid text with help and type of every metric',
  async run(probe) {
    const answer = await probe.send('/prometheus', { credential: NO_CREDENTIAL });
    mustEqual('status', answer.status, 200);
    mustEqual('content type', answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    must(answer.body.endsWith('\n'), 'the text has no line break at its end');
    mustBeText(answer.body.split('\n').slice(0, -1));
  },
};

function mustBeText(lines: readonly string[]): void {
  const described = { HELP: new Set<string>(), TYPE: new Set<string>() };
  const samples = new Set<string>();
  for (const line of lines) {
    if (line.startsWith('#')) addComment(line, described);
    else if (line !== '') addSample(line, described, samples);
  }
  must(samples.size > 0, 'the text has no sample');
}

function addComment(line: string, described: Record<'HELP' | 'TYPE', Set<string>>): void {
  const [, kind, name = '', text = ''] = COMMENT.exec(line) ?? [];
  must(kind === 'HELP' || kind === 'TYPE', `malformed comment: ${line}`);
  must(!described[kind].has(name), `second ${kind} of ${name}`);
  must(kind === 'HELP' || TYPES.includes(text), `unknown type of ${name}: ${text}`);
  described[kind].add(name);
}

function addSample(line: string, described: Record<'HELP' | 'TYPE', Set<string>>, samples: Set<string>): void {
  const [, name = '', value = ''] = SAMPLE.exec(line) ?? [];
  must(name !== '', `malformed sample: ${line.slice(0, 200)}`);
  must(value === '+Inf' || value === '-Inf' || value === 'NaN' || Number.isFinite(Number(value)), `no number: ${line}`);
  const family = described.TYPE.has(name) ? name : name.replace(PARTS, '');
  must(described.TYPE.has(family) && described.HELP.has(family), `${name} has no help or type before it`);
  const series = line.slice(0, line.lastIndexOf(` ${value}`));
  must(!samples.has(series), `second sample of ${series}`);
  samples.add(series);
}
