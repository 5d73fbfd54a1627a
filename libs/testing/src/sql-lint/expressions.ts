import type { Catalogue, Volatility } from './catalogue.ts';
import { as, list, own, words } from './levels.ts';

/** Function or operator that an expression calls, as a finding names it. */
export interface Call {
  what: string;
  volatility: Volatility;
  /** A column goes into it. */
  overColumn: boolean;
}

const TIME_TYPES = ['date', 'timestamp', 'timestamptz', 'time', 'timetz'];

/** The calls of an expression that are not immutable; operators and casts that depend on the time zone count too. */
export function unstableCalls(node: unknown, catalogue: Catalogue): Call[] {
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
