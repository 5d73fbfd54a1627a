import { PLACEMENT } from '@pipeline/store';
import { parse } from 'libpg-query';
import type { Catalogue, Volatility } from './catalogue.ts';
import {
  as,
  type Fields,
  isFields,
  type Level,
  levelsOf,
  list,
  outerRelations,
  own,
  type Relation,
  words,
} from './levels.ts';
import { type Tenancy, tenancyOf } from './tenancy.ts';

/** Function or operator that an expression calls, as a finding names it. */
interface Call {
  what: string;
  volatility: Volatility;
  /** A column goes into it. */
  overColumn: boolean;
}

const TIME_TYPES = ['date', 'timestamp', 'timestamptz', 'time', 'timetz'];

// A comment with the word fleet, a colon and a reason: this statement is meant for all tenants.
const FLEET_MARK = /^\s*fleet:\s*\S/;

const hasFleetMark = (text: string): boolean =>
  text.split('/*').some((rest, index) => {
    const end = rest.indexOf('*/');
    return index > 0 && end !== -1 && FLEET_MARK.test(rest.slice(0, end));
  });

interface Judged {
  level: Level;
  /** The relations of outer queries that it names, itself or in a subquery. */
  outer: readonly Relation[];
  tenancy: Tenancy;
  allTenants: boolean;
  catalogue: Catalogue;
}

type Rule = (judged: Judged) => string[];

const RULES: readonly Rule[] = [
  namesTenant,
  joinsByTenant,
  locksOneTenant,
  writes,
  upserts,
  inserts,
  wholeFleetForms,
  keepsPlacesApart,
  correlatedForms,
  locksWithoutFrom,
];

/** Judges one parsed statement. @returns what a distributed store would refuse or send to every shard. */
export function judge(tree: unknown, text: string, catalogue: Catalogue): string[] {
  const allTenants = hasFleetMark(text);
  const levels = levelsOf(tree);
  const outer = outerRelations(levels);
  return levels.flatMap((level) => {
    const judged = {
      level,
      outer: outer.get(level) ?? [],
      tenancy: tenancyOf(level, (table) => isTenantTable(table, catalogue)),
      allTenants,
      catalogue,
    };
    return RULES.flatMap((rule) => rule(judged));
  });
}

/**
 * Requires the tenant on every level. The tenant of an outer query is not enough: the planner of a distributed store
 * does not carry a constant into a subquery, and queries all shards.
 */
function namesTenant({ tenancy, allTenants }: Judged): string[] {
  if (allTenants) return [];
  return tenancy.tenantTables
    .filter((table) => !tenancy.named(table))
    .map((table) => `${table.table} is touched without tenant_id = a parameter on its own level`);
}

function joinsByTenant({ tenancy }: Judged): string[] {
  const names = tenancy.tenantTables.map((relation) => relation.table).join(', ');
  return tenancy.joined ? [] : [`${names} are joined without tenant_id = tenant_id`];
}

function locksOneTenant({ level, tenancy }: Judged): string[] {
  if (list(level.fields.lockingClause).length === 0) return [];
  return tenancy.tenantTables
    .filter((table) => !tenancy.named(table))
    .map((table) => `${table.table} is locked without tenant_id = a parameter`);
}

/** UPDATE and DELETE: nothing volatile, nothing stable over a column, and a row keeps its tenant. */
function writes({ level, catalogue }: Judged): string[] {
  const target = level.relations[0]?.table;
  if ((level.kind !== 'UpdateStmt' && level.kind !== 'DeleteStmt') || isLocal(target)) return [];
  const { withClause: _, ...fields } = level.fields;
  const verb = level.kind === 'UpdateStmt' ? 'UPDATE' : 'DELETE';
  const moved = assigned(fields).includes('tenant_id') ? [`UPDATE changes the tenant_id of ${target}`] : [];
  const calls = unstableCalls(fields, catalogue).flatMap(({ what, volatility, overColumn }) => {
    if (volatility === 'volatile')
      return [`${verb} calls volatile ${what}: pass it as a parameter or select it in a CTE`];
    return overColumn ? [`${verb} applies stable ${what} to a column: move it to the side of the parameter`] : [];
  });
  return [...moved, ...calls, ...choices(fields, verb, catalogue)];
}

/** CASE and COALESCE may leave a branch out, so the coordinator cannot compute what is in them. */
const choices = (node: unknown, verb: string, catalogue: Catalogue): string[] =>
  [...own(node, 'CaseExpr'), ...own(node, 'CoalesceExpr')]
    .flatMap((choice) => unstableCalls(choice, catalogue))
    .map(({ what }) => `${verb} calls ${what} inside CASE or COALESCE: take it from a subquery, or use LEAST`);

const assigned = (fields: Fields): string[] =>
  list(fields.targetList).map((item) => String((item as { ResTarget?: Fields }).ResTarget?.name));

const isLocal = (table: string | null | undefined): boolean => !table || PLACEMENT[table] === 'local';

function upserts({ level, catalogue }: Judged): string[] {
  const conflict = level.fields.onConflictClause;
  if (level.kind !== 'InsertStmt' || isLocal(insertTarget(level)) || !isFields(conflict)) return [];
  if (conflict.action !== 'ONCONFLICT_UPDATE') return [];
  const moved = assigned(conflict).includes('tenant_id') ? ['DO UPDATE SET changes tenant_id'] : [];
  const set = [conflict.targetList, conflict.whereClause];
  const calls = unstableCalls(set, catalogue).map((call) => `DO UPDATE SET uses ${call.what}, which is not immutable`);
  const returned = unstableCalls(level.fields.returningClause, catalogue).map(
    (call) => `RETURNING after DO UPDATE uses ${call.what}, which is not immutable`,
  );
  const nested = own(set, 'SubLink').length > 0 ? ['DO UPDATE SET has a subquery'] : [];
  return [...moved, ...calls, ...returned, ...nested];
}

const insertTarget = (level: Level): string => String((level.fields.relation as Fields | undefined)?.relname);

function inserts({ level, catalogue }: Judged): string[] {
  if (level.kind !== 'InsertStmt') return [];
  const table = insertTarget(level);
  if (!catalogue.tables.has(table) || PLACEMENT[table] !== undefined) return [];
  const columns = list(level.fields.cols).map((column) => String((column as { ResTarget?: Fields }).ResTarget?.name));
  const missing = columns.includes('tenant_id') ? [] : [`INSERT into ${table} does not name tenant_id`];
  const source = level.fields.selectStmt as { SelectStmt?: Fields } | undefined;
  const nested = own(source?.SelectStmt?.valuesLists, 'SubLink').length > 0;
  return [
    ...missing,
    ...(nested ? [`INSERT into ${table} has a subquery in VALUES: use INSERT … SELECT`] : []),
    ...choices(source?.SelectStmt?.valuesLists, 'INSERT', catalogue),
  ];
}

/** A local table is on the coordinator alone, a table of tenants on all nodes but perhaps that one. */
function keepsPlacesApart({ level, outer, tenancy, catalogue }: Judged): string[] {
  const reached = [...level.relations, ...outer];
  const local = reached.find(({ table }) => table !== null && PLACEMENT[table] === 'local');
  const ofTenants = [...tenancy.tenantTables, ...reached.filter(({ table }) => isTenantTable(table, catalogue))][0];
  if (!local || !ofTenants) return [];
  return [
    `local ${local.table} is joined with distributed ${ofTenants.table}: read one first, or in a materialized CTE`,
  ];
}

const isTenantTable = (table: string | null, catalogue: Catalogue): boolean =>
  table !== null && catalogue.tables.has(table) && PLACEMENT[table] === undefined;

/**
 * Over all tenants a subquery that names an outer row runs beside it on each shard, so it must be a plain join: without a
 * limit, an offset, an aggregate of the whole, or an empty FROM.
 */
function correlatedForms({ level, outer, catalogue, allTenants }: Judged): string[] {
  if (!allTenants) return [];
  const around = [...(level.parent?.relations ?? []), ...level.relations];
  if (outer.length === 0 || !around.some(({ table }) => isTenantTable(table, catalogue))) return [];
  const { fields } = level;
  const isWhole = list(fields.groupClause).length === 0 && hasAggregate(fields.targetList, catalogue);
  const hasNoFrom = list(fields.fromClause).length === 0 && !fields.larg && list(fields.valuesLists).length === 0;
  const name = `a subquery that names outer ${outer[0]?.alias} over all tenants`;
  return [
    ...(fields.limitCount ? [`LIMIT in ${name}`] : []),
    ...(fields.limitOffset ? [`OFFSET in ${name}`] : []),
    ...(isWhole ? [`an aggregate without GROUP BY in ${name}`] : []),
    ...(hasNoFrom && level.place === 'lateral' ? [`no FROM in ${name}`] : []),
  ];
}

const hasAggregate = (targets: unknown, catalogue: Catalogue): boolean =>
  own(targets, 'FuncCall').some(
    (call) => call.over === undefined && catalogue.aggregates.has(words(call.funcname).at(-1) ?? ''),
  );

/**
 * Finds advisory locks in a statement with a FROM: the lock is taken on whatever node has the rows, and protects
 * nothing.
 */
function locksWithoutFrom({ level, tenancy }: Judged): string[] {
  if (level.relations.length === 0 || tenancy.tenantTables.length === 0) return [];
  return own(level.fields, 'FuncCall')
    .map((call) => words(call.funcname).at(-1) ?? '')
    .filter((name) => /^pg_(try_)?advisory_/.test(name))
    .map((name) => `${name}() is called with a FROM`);
}

/** Forms that need one tenant, whatever the pool. */
function wholeFleetForms({ level, tenancy }: Judged): string[] {
  if (tenancy.tenantTables.every((table) => tenancy.named(table))) return [];
  const sets = own(level.fields.groupClause, 'GroupingSet').length > 0;
  const recursive = isFields(level.fields.withClause) && level.fields.withClause.recursive === true;
  return [
    ...(sets ? ['GROUPING SETS over all tenants'] : []),
    ...(recursive ? ['a recursive query over all tenants'] : []),
  ];
}

/**
 * Holds statements to the rules of a distributed store, with Postgres's own parser.
 * @returns one entry per breach, with the statement.
 */
export async function lintStatements(statements: Iterable<string>, catalogue: Catalogue): Promise<string[]> {
  const findings: string[] = [];
  for (const statement of statements) {
    for (const finding of await lintOne(statement, catalogue)) findings.push(findingText(statement, finding));
  }
  return findings;
}

/** A finding with its statement, as people read it. */
export const findingText = (statement: string, finding: string): string =>
  `${finding}\n    ${statement.replace(/\s+/g, ' ').trim().slice(0, 400)}`;

async function lintOne(statement: string, catalogue: Catalogue): Promise<string[]> {
  let stmts: { stmt?: unknown }[];
  try {
    ({ stmts = [] } = await parse(statement));
  } catch (error) {
    return [`cannot be parsed: ${String(error)}`];
  }
  return stmts.flatMap(({ stmt }) => judge(stmt, statement, catalogue));
}

/** The calls of an expression that are not immutable; operators and casts that depend on the time zone count too. */
function unstableCalls(node: unknown, catalogue: Catalogue): Call[] {
  const functions = own(node, 'FuncCall').map((call) => {
    const name = words(call.funcname).at(-1) ?? '';
    const overColumn = own(call.args, 'ColumnRef').length > 0;
    return { what: `${name}()`, volatility: catalogue.functions.get(name) ?? 'volatile', overColumn };
  });
  const keywords = own(node, 'SQLValueFunction').map(({ op }) => {
    return { what: String(op).replace('SVFOP_', '').toLowerCase(), volatility: 'stable' as const, overColumn: false };
  });
  const operators = own(node, 'A_Expr')
    .filter((operation) => isTimeArithmetic(operation, catalogue))
    .map((operation) => {
      const overColumn = own([operation.lexpr, operation.rexpr], 'ColumnRef').length > 0;
      return { what: `timestamptz ${words(operation.name)[0]} interval`, volatility: 'stable' as const, overColumn };
    });
  const casts = own(node, 'TypeCast').flatMap((cast) => {
    const type = words((cast.typeName as { names?: unknown } | undefined)?.names).at(-1) ?? '';
    const column = as('ColumnRef', cast.arg);
    const time = column !== undefined && isTime(cast.arg, catalogue);
    const unstable =
      column !== undefined && type !== 'timestamptz' ? time || TIME_TYPES.includes(type) : column && !time;
    return unstable ? [{ what: `cast to ${type}`, volatility: 'stable' as const, overColumn: true }] : [];
  });
  return [...functions, ...keywords, ...operators, ...casts].filter((call) => call.volatility !== 'immutable');
}

/** `timestamptz ± interval` is stable, for a day may have 23 hours; the difference of two times is immutable. */
function isTimeArithmetic(operation: Record<string, unknown>, catalogue: Catalogue): boolean {
  const operator = words(operation.name)[0];
  if (operation.kind !== 'AEXPR_OP' || (operator !== '+' && operator !== '-')) return false;
  return isTime(operation.lexpr, catalogue) !== isTime(operation.rexpr, catalogue);
}

function isTime(node: unknown, catalogue: Catalogue): boolean {
  const column = as('ColumnRef', node);
  if (column) return catalogue.timeColumns.has(words(column.fields).at(-1) ?? '');
  const call = as('FuncCall', node);
  if (call) return catalogue.timeFunctions.has(words(call.funcname).at(-1) ?? '');
  const cast = as('TypeCast', node);
  if (cast) return words((cast.typeName as { names?: unknown } | undefined)?.names).at(-1) === 'timestamptz';
  const choice = as('CoalesceExpr', node) ?? as('MinMaxExpr', node);
  if (choice) return list(choice.args).some((arg) => isTime(arg, catalogue));
  const operation = as('A_Expr', node);
  return operation !== undefined && isTimeArithmetic(operation, catalogue);
}
