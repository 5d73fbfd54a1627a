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

export interface Relation {
  alias: string;
  /** Null for a CTE, a subquery or a function. */
  table: string | null;
}

/** Position of a level in its parent: the sides of a UNION have the position of the UNION. */
type Place = 'top' | 'cte' | 'from' | 'lateral' | 'expression';

/** One SELECT, INSERT, UPDATE, DELETE or MERGE, with what it reads and writes itself. */
export interface Level {
  kind: StatementKind;
  place: Place;
  fields: Fields;
  /** Relations that FROM, USING or the statement itself names, the target of UPDATE and DELETE first. */
  relations: Relation[];
  parent: Level | null;
}

/** Every level of a statement, outer ones first. */
export function levelsOf(tree: unknown): Level[] {
  const ctes = new Set<string>();
  collectCtes(tree, ctes);
  const levels: Level[] = [];
  const add = (kind: StatementKind, fields: Fields, at: Pick<Level, 'parent' | 'place'>) => {
    const level: Level = { kind, fields, relations: relationsOf(kind, fields, ctes), ...at };
    levels.push(level);
    // The two sides of a UNION stand there without their kind.
    for (const side of [fields.larg, fields.rarg]) if (kind === 'SelectStmt' && side) add(kind, side as Fields, at);
    const { larg: _l, rarg: _r, ...rest } = fields;
    const places = placesIn(rest);
    for (const child of inner(kind === 'SelectStmt' ? rest : fields)) {
      add(child.kind, child.fields, { parent: level, place: places.get(child.fields) ?? 'expression' });
    }
  };
  for (const kind of STATEMENTS) {
    const fields = as(kind, tree);
    if (fields) add(kind, fields, { parent: null, place: 'top' });
  }
  return levels;
}

/** The statements directly inside that are relations of this one, and how they are. */
function placesIn(fields: Fields): ReadonlyMap<unknown, Place> {
  const statement = (node: unknown) => STATEMENTS.map((kind) => as(kind, node)).find((found) => found !== undefined);
  return new Map([
    ...own(fields, 'CommonTableExpr').map((cte): [unknown, Place] => [statement(cte.ctequery), 'cte']),
    ...own(fields, 'RangeSubselect').map((range): [unknown, Place] => [
      statement(range.subquery),
      range.lateral === true ? 'lateral' : 'from',
    ]),
  ]);
}

/** The relations of outer queries that each level names, itself or in a subquery of it. A CTE sees no outer query. */
export function outerRelations(levels: readonly Level[]): ReadonlyMap<Level, readonly Relation[]> {
  const found = new Map<Level, readonly Relation[]>();
  // Inner levels come after outer ones.
  for (const level of [...levels].reverse()) {
    const { larg, rarg, ...fields } = level.fields;
    const named = new Set(own(fields, 'ColumnRef').flatMap((column) => words(column.fields).at(-2) ?? []));
    const sides = levels.filter((side) => side.fields === larg || side.fields === rarg);
    const below = levels.filter(({ parent, place }) => parent === level && place !== 'cte');
    const beyond = [...sides, ...below].flatMap((child) => found.get(child) ?? []);
    const outside = beyond.filter((relation) => !level.relations.includes(relation));
    found.set(level, [...new Set([...outerOf(level, named), ...outside])]);
  }
  return found;
}

function outerOf(level: Level, names: Set<string>): Relation[] {
  for (const { alias } of level.relations) names.delete(alias);
  const found: Relation[] = [];
  for (let at = level; at.parent && at.place !== 'cte'; at = at.parent) {
    found.push(...at.parent.relations.filter(({ alias }) => names.delete(alias)));
  }
  return found;
}

function collectCtes(node: unknown, names: Set<string>): void {
  for (const cte of own(node, 'CommonTableExpr')) names.add(String(cte.ctename));
  for (const child of inner(Object.values(node ?? {}))) collectCtes(child.fields, names);
}

function relationsOf(kind: StatementKind, fields: Fields, ctes: ReadonlySet<string>): Relation[] {
  const target = kind === 'SelectStmt' || kind === 'InsertStmt' ? [] : [{ RangeVar: fields.relation }];
  const from = [...target, ...list(fields.fromClause), ...list(fields.usingClause), fields.sourceRelation];
  return from.flatMap((item) => relationsIn(item, ctes));
}

function relationsIn(item: unknown, ctes: ReadonlySet<string>): Relation[] {
  const join = as('JoinExpr', item);
  if (join) return [...relationsIn(join.larg, ctes), ...relationsIn(join.rarg, ctes)];
  const range = as('RangeVar', item);
  if (range) {
    const name = String(range.relname);
    const table = range.schemaname === undefined && ctes.has(name) ? null : name;
    return [{ alias: String((range.alias as Fields | undefined)?.aliasname ?? name), table }];
  }
  const derived = as('RangeSubselect', item) ?? as('RangeFunction', item);
  const alias = (derived?.alias as Fields | undefined)?.aliasname;
  return derived ? [{ alias: String(alias ?? ''), table: null }] : [];
}

/** Returns the conjuncts of WHERE and of the join conditions together. */
export function conjuncts(level: Level): Fields[] {
  const joins = own([level.fields.fromClause, level.fields.usingClause], 'JoinExpr');
  return [level.fields.whereClause, level.fields.joinCondition, ...joins.map((join) => join.quals)].flatMap(flatten);
}

/** Columns named by `join … using (…)`. */
export const usingColumns = (level: Level): string[] =>
  own(level.fields.fromClause, 'JoinExpr').flatMap((join) => words(join.usingClause));

function flatten(condition: unknown): Fields[] {
  const bool = as('BoolExpr', condition);
  if (bool?.boolop === 'AND_EXPR') return list(bool.args).flatMap(flatten);
  const fields = as('A_Expr', condition);
  return fields ? [fields] : [];
}
