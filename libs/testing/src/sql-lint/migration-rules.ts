import { PLACEMENT } from '@pipeline/store';
import { parse } from 'libpg-query';
import { as, type Fields, list, own, walk, words } from './levels.ts';

/** Last migration of the baseline: the tables of a cluster are placed after it, and all later ones run on placed tables. */
export const BASELINE = '0014-processes';

/** Kinds of constraint that ADD COLUMN may not bring along. */
const COLUMN_CONSTRAINTS: Readonly<Record<string, string>> = {
  CONSTR_CHECK: 'CHECK',
  CONSTR_PRIMARY: 'PRIMARY KEY',
  CONSTR_UNIQUE: 'UNIQUE',
  CONSTR_FOREIGN: 'FOREIGN KEY',
  CONSTR_IDENTITY: 'identity',
};

const relname = (node: unknown): string => String((node as Fields | undefined)?.relname ?? '');
const isOfTenants = (table: string): boolean => PLACEMENT[table] === undefined;

/**
 * Holds the statements of one migration to what a distributed PostgreSQL runs.
 * @param partitioned names of the partitioned tables.
 * @returns one line per breach; none = it runs on distributed tables.
 */
export async function lintMigration(
  statements: readonly string[],
  partitioned: ReadonlySet<string>,
): Promise<string[]> {
  const trees: unknown[] = [];
  for (const text of statements) {
    const { stmts = [] } = await parse(text);
    trees.push(...stmts.map(({ stmt }) => stmt));
  }
  const isSequential = trees.some(setsSequential);
  const isPlaced = (table: string) => trees.some((tree) => places(tree, table));
  return trees.flatMap((tree) => [
    ...drops(tree),
    ...alterations(tree),
    ...creations(tree, isPlaced),
    ...indexes(tree, partitioned, isSequential),
    ...triggers(tree),
  ]);
}

function drops(tree: unknown): string[] {
  const drop = as('DropStmt', tree);
  const count = list(drop?.objects).length;
  return drop && count > 1 ? [`DROP names ${count} objects: use a statement for each`] : [];
}

function alterations(tree: unknown): string[] {
  const alter = as('AlterTableStmt', tree);
  const table = relname(alter?.relation);
  if (alter?.objtype !== 'OBJECT_TABLE' || !isOfTenants(table)) return [];
  const commands = list(alter.cmds).map((command) => as('AlterTableCmd', command) ?? {});
  const adds = commands.filter(({ subtype }) => subtype === 'AT_AddConstraint').length;
  const together =
    adds > 0 && commands.length > 1
      ? [`${table}: ADD CONSTRAINT with another subcommand: use a statement for each`]
      : [];
  return [...together, ...commands.flatMap((command) => alteration(table, command))];
}

function alteration(table: string, { subtype, name, def }: Fields): string[] {
  if (subtype === 'AT_ClusterOn') return [`${table}: CLUSTER ON`];
  if (subtype === 'AT_AlterColumnType' && name === 'tenant_id') return [`${table}: changes the type of tenant_id`];
  if (subtype !== 'AT_AddColumn') return [];
  const column = as('ColumnDef', def);
  return list(column?.constraints).flatMap((constraint) => {
    const kind = COLUMN_CONSTRAINTS[String(as('Constraint', constraint)?.contype)];
    return kind
      ? [`${table}: ADD COLUMN ${column?.colname} with ${kind}: add a named constraint after the column`]
      : [];
  });
}

/** A table of tenants must be placed by the migration that creates it, and refer to others afterwards. */
function creations(tree: unknown, isPlaced: (table: string) => boolean): string[] {
  const create = as('CreateStmt', tree);
  const table = relname(create?.relation);
  if (!create || create.inhRelations !== undefined || !isOfTenants(table)) return [];
  const refers = own(create, 'Constraint')
    .filter(({ contype, pktable }) => contype === 'CONSTR_FOREIGN' && PLACEMENT[relname(pktable)] !== 'reference')
    .map(({ pktable }) => `${table}: refers to ${relname(pktable)} before it is placed: add the constraint afterwards`);
  const unplaced = isPlaced(table)
    ? []
    : [`${table}: is not placed: select pipeline.distribute_table('${table}') after it`];
  return [...refers, ...unplaced];
}

/** The index of a partition's shard is named by the table and its columns, and that name is often too long. */
function indexes(tree: unknown, partitioned: ReadonlySet<string>, isSequential: boolean): string[] {
  const index = as('IndexStmt', tree);
  const table = relname(index?.relation);
  if (!index || isSequential || !partitioned.has(table)) return [];
  return [
    `${table}: index ${index.idxname} on a partitioned table without set local citus.multi_shard_modify_mode = 'sequential'`,
  ];
}

function triggers(tree: unknown): string[] {
  const trigger = as('CreateTrigStmt', tree);
  return trigger ? [`${relname(trigger.relation)}: trigger ${trigger.trigname}`] : [];
}

function setsSequential(tree: unknown): boolean {
  const set = as('VariableSetStmt', tree);
  return set?.name === 'citus.multi_shard_modify_mode' && set.is_local === true;
}

function places(tree: unknown, table: string): boolean {
  let found = false;
  walk(tree, (node) => {
    const call = as('FuncCall', node);
    const [arg] = call && words(call.funcname).at(-1) === 'distribute_table' ? list(call.args) : [];
    const value = (as('A_Const', arg)?.sval as Fields | undefined)?.sval;
    found ||= value === table;
    return !found;
  });
  return found;
}
