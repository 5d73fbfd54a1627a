import type { Change } from './change.ts';
import { RULES, type Rule } from './rules.ts';

/** A breaking change that was decided: it is reported with its reason and does not fail the run. */
export interface Allowed {
  readonly rule: Rule;
  readonly place: string;
  readonly reason: string;
}

/** Parses RULE@PLACE=REASON. Returns undefined when it has another form or names no rule. */
export function parseAllowed(text: string): Allowed | undefined {
  const [, rule = '', place = '', reason = ''] = /^([^@]*)@([^=]*)=(.*)$/su.exec(text) ?? [];
  if (!Object.hasOwn(RULES, rule) || place.trim() === '' || reason.trim() === '') return undefined;
  return { rule: rule as Rule, place: place.trim(), reason: reason.trim() };
}

/** A change with the reason why it is allowed, if it is. */
export interface JudgedChange extends Change {
  readonly allowed?: string;
}

/** Marks the breaking changes that were decided, and returns the decisions that match no change. */
export function judge(changes: readonly Change[], allowed: readonly Allowed[]) {
  const matches = (change: Change, { rule, place }: Allowed) => change.rule === rule && change.place === place;
  const judged = changes.map((change): JudgedChange => {
    const found = change.level === 'breaking' ? allowed.find((one) => matches(change, one)) : undefined;
    return found ? { ...change, allowed: found.reason } : change;
  });
  const unused = allowed.filter((one) => !judged.some((change) => change.allowed && matches(change, one)));
  return { judged, unused, breaks: judged.some((change) => change.level === 'breaking' && !change.allowed) };
}
