import { type Change, type Tx, updateIssue, updateRun } from '@pipeline/store';

/**
 * New values of columns of issues and runs that a transaction has locked. Each row is written once, by `write`: each
 * UPDATE of it costs its indexes and the check of its foreign keys again. Later values replace earlier ones.
 */
export class ChangedRows {
  readonly #tx: Tx;
  readonly #tenantId: number;
  #issues = new Map<number, Change<'issues'>>();
  #runs = new Map<number, Change<'runs'>>();

  constructor(tx: Tx, tenantId: number) {
    this.#tx = tx;
    this.#tenantId = tenantId;
  }

  setIssue(id: number, change: Change<'issues'>): void {
    this.#issues.set(id, { ...this.#issues.get(id), ...change });
  }

  setRun(id: number, change: Change<'runs'>): void {
    this.#runs.set(id, { ...this.#runs.get(id), ...change });
  }

  /** Writes the rows. At the end of the transaction, and before it reads issues or runs that it may have changed. */
  async write(): Promise<void> {
    const [issues, runs] = [this.#issues, this.#runs];
    this.#issues = new Map();
    this.#runs = new Map();
    await Promise.all([
      ...[...issues].map(([id, change]) => updateIssue(this.#tx, this.#tenantId, id, change)),
      ...[...runs].map(([id, change]) => updateRun(this.#tx, this.#tenantId, id, change)),
    ]);
  }
}
