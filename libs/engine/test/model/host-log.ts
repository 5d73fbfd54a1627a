import { ENQUEUE_LABEL, type HistoryEvent, type HostHistory, type HostIssue } from '@pipeline/domain';

/** The host's log of one issue, and which texts of it somebody with write permission has enqueued or written. */
interface Log extends HostHistory {
  titles: Set<string>;
  bodies: Set<string>;
}

type Entry = Pick<HistoryEvent, 'kind' | 'actor'> & { label?: string | null };

/** The log entries of the model's host about changes of an issue. */
export class HostLog {
  readonly #logs = new Map<number, Log>();
  #lastId = 0;

  of(number: number): Log {
    const log = this.#logs.get(number) ?? { events: [], bodyEdit: null, titles: new Set(), bodies: new Set() };
    this.#logs.set(number, log);
    return log;
  }

  /** The label for intake enqueues the current text; the host allows it only to people with triage permission. */
  add(issue: HostIssue, { kind, actor, label = null }: Entry): void {
    this.#lastId += 1;
    this.of(issue.number).events.push({ id: this.#lastId, kind, label, actor, at: issue.updatedAt });
    if (kind === 'labeled' && label === ENQUEUE_LABEL) this.approve(issue.number, issue);
  }

  /** Agents may get these parts of the text of an issue from now on. */
  approve(number: number, { title, body }: { title?: string; body?: string }): void {
    const log = this.of(number);
    if (title !== undefined) log.titles.add(title);
    if (body !== undefined) log.bodies.add(body);
  }
}
