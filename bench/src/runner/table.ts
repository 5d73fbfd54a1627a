import type { Bound, Line } from './model.ts';

const HEAD = ['goal', 'unit', 'ours', 'anchor', 'ratio', 'bound', 'pass', 'rounds', 'spread', 'CPU us', 'CPU ratio'];

/** The lines as a Markdown table, columns aligned. `CPU us` = per item, lowest round, ours / anchor. */
export function renderTable(lines: readonly Line[]): string {
  const rows = [HEAD, ...lines.map(cells)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const render = (row: string[]) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  const [head = '', ...body] = rows.map(render);
  return [head, rule, ...body].join('\n');
}

function cells(line: Line): string[] {
  const [ours, anchor] = line.cpuUs;
  return [
    `${line.goal} ${line.title}`,
    line.unit,
    number(line.ours),
    line.anchorValue === null ? line.anchor : `${line.anchor}: ${number(line.anchorValue)}`,
    number(line.ratio),
    line.bound ? boundText(line.bound) : '-',
    line.verdict ?? '-',
    `${line.ratios.length}`,
    line.spread.toFixed(2),
    ours === null ? '-' : `${number(ours)} / ${anchor === null ? '-' : number(anchor)}`,
    line.cpuRatio === null ? '-' : line.cpuRatio.toFixed(2),
  ];
}

const boundText = (bound: Bound): string =>
  'atLeast' in bound ? `>= ${number(bound.atLeast)}` : `<= ${number(bound.atMost)}`;

/** Three digits that count. */
export const number = (value: number): string =>
  Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en-US') : `${Number(value.toPrecision(3))}`;
