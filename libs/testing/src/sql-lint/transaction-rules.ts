import { COLUMNS, PLACEMENT } from '@pipeline/store';

/** A connection, by identity. */
type Session = object;

const BEGIN = /^(start transaction|begin)\b/;
const END = /^(commit|rollback)\b(?! to)/;

/**
 * Follows the transactions of a store by their statements. On a cluster, a transaction that writes a table of the
 * coordinator alone and a table of tenants is committed on two servers, one after the other: a failure between them
 * keeps one half. Where a reference table is written as well, both are committed in two phases.
 */
export class TransactionLint {
  readonly #open = new WeakMap<Session, string[]>();
  readonly #findings = new Map<string, string>();

  /** Called with each statement in the order in which its session sends it. */
  note(session: Session, text: string): void {
    if (BEGIN.test(text)) this.#open.set(session, []);
    else if (END.test(text)) {
      if (text.startsWith('commit')) this.#judge(this.#open.get(session) ?? []);
      this.#open.delete(session);
    } else if (tablesWrittenBy(text).size > 0) {
      const open = this.#open.get(session);
      if (open) open.push(text);
      else this.#judge([text]);
    }
  }

  /** One entry for each pair of tables, with the statements of the first transaction that wrote both. */
  get findings(): string[] {
    return [...this.#findings.values()];
  }

  #judge(texts: readonly string[]): void {
    const tables = [...new Set(texts.flatMap((text) => [...tablesWrittenBy(text)]))];
    const placed = (placement: string | undefined) => tables.filter((table) => PLACEMENT[table] === placement);
    if (placed('reference').length > 0) return;
    const local = placed('local');
    const distributed = placed(undefined);
    if (local.length === 0 || distributed.length === 0) return;
    const pair = `${local.toSorted().join(', ')} and ${distributed.toSorted().join(', ')}`;
    const lines = texts.map((text) => `    ${text.replace(/\s+/g, ' ').trim().slice(0, 200)}`);
    this.#findings.set(pair, [`one transaction writes local ${pair}, on two servers`, ...lines].join('\n'));
  }
}

const written = new Map<string, ReadonlySet<string>>();
const WRITE = /(?:insert into|update|delete from) +(?:"?pipeline"?\.)?"?([a-z_]+)/g;

/** Names that are no table have no placement and no columns: aliases of a clause such as `do update set`. */
function tablesWrittenBy(text: string): ReadonlySet<string> {
  const tables =
    written.get(text) ??
    new Set([...text.matchAll(WRITE)].map((match) => match[1] ?? '').filter((name) => name in COLUMNS));
  written.set(text, tables);
  return tables;
}
