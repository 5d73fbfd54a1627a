import { as, conjuncts, type Level, list, type Relation, usingColumns, words } from './levels.ts';

const CONSTANT = '(constant)';

export interface Tenancy {
  /** Tables of this level that belong to tenants. */
  tenantTables: Relation[];
  /** True when the tenant of this relation equals a parameter or a literal. */
  named(relation: Relation): boolean;
  /** True when all tenant tables of this level have the same tenant. */
  joined: boolean;
}

/** Follows the equalities on tenant_id that a level demands. */
export function tenancyOf(level: Level, isTenantTable: (table: string) => boolean): Tenancy {
  const tenantTables = level.relations.filter((relation) => relation.table !== null && isTenantTable(relation.table));
  const equal = new Equalities();
  for (const [left, right] of conjuncts(level).flatMap(equalPairs)) {
    const [a, b] = [left, right].map((side) => sideOf(side, level, tenantTables));
    if (a && b) equal.join(a, b);
  }
  const [first, ...others] = level.relations.map((relation) => relation.alias);
  if (usingColumns(level).includes('tenant_id') && first) for (const alias of others) equal.join(first, alias);
  const [head, ...rest] = tenantTables;
  return {
    tenantTables,
    named: (relation) => equal.same(relation.alias, CONSTANT),
    joined: head === undefined || rest.every((relation) => equal.same(head.alias, relation.alias)),
  };
}

/** `a = b`, and `(a, b) = (c, d)` as its two equalities. */
function equalPairs(condition: Record<string, unknown>): [unknown, unknown][] {
  if (condition.kind !== 'AEXPR_OP' || words(condition.name).at(-1) !== '=') return [];
  const left = as('RowExpr', condition.lexpr);
  const right = as('RowExpr', condition.rexpr);
  if (!left || !right) return [[condition.lexpr, condition.rexpr]];
  return list(left.args).map((arg, index) => [arg, list(right.args)[index]]);
}

function sideOf(node: unknown, level: Level, tenantTables: readonly Relation[]): string | null {
  const cast = as('TypeCast', node);
  if (cast) return sideOf(cast.arg, level, tenantTables);
  if (as('ParamRef', node) || as('A_Const', node)) return CONSTANT;
  const column = as('ColumnRef', node);
  if (!column) return null;
  const name = words(column.fields);
  if (name.at(-1) !== 'tenant_id') return null;
  const alias = name.at(-2);
  // Without a prefix it can only be the one table that has the column.
  if (alias === undefined) return tenantTables[0]?.alias ?? null;
  if (level.relations.some((relation) => relation.alias === alias)) return alias;
  // Two tables whose tenant is that of the same outer row have the same tenant.
  return `(outer) ${alias}`;
}

/** Classes of names that are equal to each other. */
class Equalities {
  readonly #parent = new Map<string, string>();

  join(a: string, b: string): void {
    this.#parent.set(this.#root(a), this.#root(b));
  }

  same(a: string, b: string): boolean {
    return this.#root(a) === this.#root(b);
  }

  #root(name: string): string {
    const parent = this.#parent.get(name);
    return parent === undefined || parent === name ? name : this.#root(parent);
  }
}
