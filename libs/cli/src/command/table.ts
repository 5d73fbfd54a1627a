/** Formats rows as a text table with aligned columns; returns `none` without rows. */
export function table(heads: readonly string[], rows: readonly (readonly unknown[])[], none: string): string {
  if (rows.length === 0) return none;
  const lines = [heads, ...rows.map((row) => row.map(cell))];
  const widths = heads.map((_head, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(',') || '-' : String(value);
}
