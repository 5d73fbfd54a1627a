import type { ClaimedTask } from '@pipeline/contract';
import {
  AGENT_OF,
  type ArtefactInput,
  type FindingInput,
  type Invocation,
  MAX_MAPPED_FILES,
  MAX_MAPPED_SYMBOLS,
  type MappedFile,
  type MappedSymbol,
  type ScannedResult,
} from '@pipeline/domain';
import { type Logger, type Periodic, runPeriodically } from '@pipeline/runtime';
import { isClaimGone, type WorkerClient } from '../client/client.ts';
import type { AgentRecord } from './records.ts';

type Messages = Parameters<WorkerClient['messages']>[1];
type ProgressBody = Parameters<WorkerClient['progress']>[1];
/** All records except the outcome, which the handler returns. */
export type RunRecord = Exclude<AgentRecord, { type: 'outcome' | 'failure' | 'log' }>;

const FLUSH_EVERY_MS = 1_000;
const MAX_BATCH_ITEMS = 500;
const MAX_BATCH_CHARS = 1_000_000;
const MAX_BUFFERED_CHARS = 8_000_000;
/** Protocol limits for message texts and reports. */
const MAX_CONTENT_CHARS = 65_536;
const MAX_ARTEFACTS = 100;
const MAX_ARTEFACT_CHARS = 3_000_000;
const MAX_FINDINGS = 500;
const MAX_INVOCATIONS = 1_000;
const MAX_PENDING_PROGRESS = 20;
/** A task reclaimed after a lost lease keeps its id; its messages must not collide with those of the first run. */
const SEQUENCES_PER_ATTEMPT = 1_000_000;

export interface RecorderOptions {
  client: WorkerClient;
  task: ClaimedTask;
  log: Logger;
  signal: AbortSignal;
  now: () => Date;
  onClaimGone(): void;
}

/** Collects the records of a run: sends messages and progress in batches about once per second, retains others for the report. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #loop: Periodic;
  readonly #artefacts: ArtefactInput[] = [];
  readonly #findings: FindingInput[] = [];
  readonly #invocations = new Map<number, Invocation>();
  readonly #codeMap = new CodeMap();
  readonly #sequences = new Map<number, number>();
  #messages: Messages = [];
  #bufferedChars = 0;
  #artefactChars = 0;
  #progress: ProgressBody[] = [];
  #dropped = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { log } = options;
    this.#loop = runPeriodically(() => this.#flush(), { name: 'records', everyMs: FLUSH_EVERY_MS, log });
    this.#loop.start();
  }

  record(record: RunRecord): void {
    switch (record.type) {
      case 'progress':
        this.#progress.push({ status: record.status, details: record.details });
        // Of several pending progress records only the latest is sent.
        if (this.#progress.length > MAX_PENDING_PROGRESS) this.#progress.shift();
        break;
      case 'message':
        this.#message(record);
        break;
      case 'invocation':
        this.#invocation(record);
        break;
      case 'artefact':
        this.#artefact(record);
        break;
      case 'finding':
        this.#finding(record);
        break;
      case 'code-map':
        this.#codeMap.add(record);
        break;
    }
  }

  /** Sends the remaining records. Afterwards the collected records are complete. */
  async close(): Promise<void> {
    await this.#loop.stop();
    await this.#flush();
    if (this.#dropped > 0) this.#options.log.warn('records above the limits were dropped', { count: this.#dropped });
    this.#dropped = 0;
  }

  get invocations(): Invocation[] {
    return [...this.#invocations.values()];
  }

  get collected(): { artefacts: ArtefactInput[]; findings: FindingInput[]; invocations: Invocation[] } {
    return { artefacts: this.#artefacts, findings: this.#findings, invocations: this.invocations };
  }

  /** Returns the result of a scan including the code-map lines recorded before. */
  scanned(said: ScannedResult): ScannedResult {
    return this.#codeMap.completed(said);
  }

  #invocation({ type: _, ...invocation }: Extract<RunRecord, { type: 'invocation' }>): void {
    const known = this.#invocations.has(invocation.index);
    if (known || this.#invocations.size < MAX_INVOCATIONS) this.#invocations.set(invocation.index, invocation);
    else this.#drop('invocation', invocation.model);
  }

  #artefact({ type: _, ...artefact }: Extract<RunRecord, { type: 'artefact' }>): void {
    this.#artefactChars += artefact.body.length;
    if (this.#artefacts.length < MAX_ARTEFACTS && this.#artefactChars <= MAX_ARTEFACT_CHARS)
      this.#artefacts.push(artefact);
    else this.#drop('artefact', artefact.title);
  }

  #finding({ type: _, ...finding }: Extract<RunRecord, { type: 'finding' }>): void {
    if (this.#findings.length < MAX_FINDINGS) this.#findings.push(finding);
    else this.#drop('finding', finding.title);
  }

  #message({ type: _, content, ...message }: Extract<RunRecord, { type: 'message' }>): void {
    const { task, now } = this.#options;
    const text = content?.slice(0, MAX_CONTENT_CHARS) ?? null;
    const chars = JSON.stringify(message).length + (text?.length ?? 0);
    if (this.#bufferedChars + chars > MAX_BUFFERED_CHARS) {
      this.#drop('message', null);
      return;
    }
    const last = this.#sequences.get(message.invocationIndex) ?? task.attempt * SEQUENCES_PER_ATTEMPT - 1;
    this.#sequences.set(message.invocationIndex, last + 1);
    this.#bufferedChars += chars;
    this.#messages.push({
      ...message,
      content: text,
      sequence: last + 1,
      agent: AGENT_OF[task.taskType],
      createdAt: now().toISOString(),
    });
  }

  #drop(what: string, title: string | null): void {
    this.#dropped += 1;
    this.#options.log.debug('record dropped', { what, title });
  }

  async #flush(): Promise<void> {
    const { client, task, signal, log, onClaimGone } = this.#options;
    try {
      while (this.#messages.length > 0) await client.messages(task, this.#nextBatch(), signal);
      for (let next = this.#progress.shift(); next; next = this.#progress.shift())
        await client.progress(task, { ...next, invocations: this.invocations }, signal);
    } catch (error) {
      if (isClaimGone(error)) onClaimGone();
      else if (!signal.aborted) log.warn('records were rejected and are lost', { error });
    }
  }

  #nextBatch(): Messages {
    let chars = 0;
    let count = 0;
    for (const message of this.#messages.slice(0, MAX_BATCH_ITEMS)) {
      chars += JSON.stringify(message).length;
      if (count > 0 && chars > MAX_BATCH_CHARS) break;
      count += 1;
    }
    const batch = this.#messages.slice(0, count);
    this.#messages = this.#messages.slice(count);
    if (this.#messages.length === 0) this.#bufferedChars = 0;
    return batch;
  }
}

/** Collects the code-map lines of a scan for one report, because a whole repository does not fit into one line. */
class CodeMap {
  readonly #files: MappedFile[] = [];
  readonly #symbols: MappedSymbol[] = [];
  #isPartial = false;

  add({ files, symbols }: { files: readonly MappedFile[]; symbols: readonly MappedSymbol[] }): void {
    for (const file of files) if (this.#fits(this.#files, MAX_MAPPED_FILES)) this.#files.push(file);
    for (const symbol of symbols) if (this.#fits(this.#symbols, MAX_MAPPED_SYMBOLS)) this.#symbols.push(symbol);
  }

  /** Returns the collected map merged with the outcome's result, truncated to the limits and marked when truncated. */
  completed(said: ScannedResult): ScannedResult {
    this.add(said);
    if (!this.#isPartial) return { ...said, files: this.#files, symbols: this.#symbols };
    const kept = new Set(this.#files.map(({ path }) => path));
    const symbols = this.#symbols.filter(({ path }) => kept.has(path));
    return { ...said, truncated: true, files: this.#files, symbols };
  }

  #fits(list: readonly unknown[], max: number): boolean {
    if (list.length < max) return true;
    this.#isPartial = true;
    return false;
  }
}
