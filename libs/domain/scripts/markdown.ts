export const GENERATED = '<!-- Generated from libs/domain by `node libs/domain/scripts/generate.ts`. Do not edit. -->';

const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

export const table = (heads: readonly string[], rows: readonly string[][]): string =>
  [row(heads), row(heads.map(() => '---')), ...rows.map(row)].join('\n');
