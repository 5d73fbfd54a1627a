/** A node of the parser: one key that names its kind, or a bare record below a field with a fixed kind. */
export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of a node of this kind, else undefined. */
export const as = (kind: string, node: unknown): Fields | undefined => {
  const fields = isFields(node) ? node[kind] : undefined;
  return isFields(fields) ? fields : undefined;
};

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const STATEMENTS = ['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt'] as const;
export type StatementKind = (typeof STATEMENTS)[number];

const statementKind = (node: Fields) => STATEMENTS.find((kind) => isFields(node[kind]));

/**
 * Visits the nodes below, parents first; the visitor answers false to leave out what is below a node. Every test file
 * walks each of its statements some dozen times: most of what a tree holds are words and numbers, and they are passed by.
 */
export function walk(node: unknown, visit: (node: Fields) => boolean): void {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) {
    for (const item of node) walk(item, visit);
  } else if (visit(node as Fields)) {
    for (const key in node) walk((node as Fields)[key], visit);
  }
}

/** Nodes of one kind in this statement, not in the statements inside it. */
export function own(node: unknown, kind: string): Fields[] {
  const found: Fields[] = [];
  walk(node, (at) => {
    if (at !== node && statementKind(at)) return false;
    const fields = as(kind, at);
    if (fields) found.push(fields);
    return true;
  });
  return found;
}

/** The statements directly inside. */
export function inner(node: unknown): { kind: StatementKind; fields: Fields }[] {
  const found: { kind: StatementKind; fields: Fields }[] = [];
  walk(node, (at) => {
    const kind = statementKind(at);
    if (!kind) return true;
    found.push({ kind, fields: at[kind] as Fields });
    return false;
  });
  return found;
}

/** The words of a dotted name, such as a column's or a function's. */
export const words = (parts: unknown): string[] => list(parts).map((part) => String(as('String', part)?.sval ?? '*'));
