import { DatabaseSync } from 'node:sqlite';
import { GLOBAL, type Kind, type Records, type Store, type UserRecord } from './model.ts';

/**
 * The sandbox host's documents in one file. A transaction is on the disk when it returns, so an answer that follows it
 * survives a kill. Everything is synchronous: two requests never interleave inside a transaction.
 */
export class State implements Store {
  readonly #db: DatabaseSync;
  #inside = false;

  readonly #firstId: number;

  /** @param firstId the lowest id of a new file. @throws Error when another process has the file open. */
  constructor(file: string, firstId = 1001) {
    this.#firstId = firstId;
    this.#db = new DatabaseSync(file);
    // Exclusive: a second sandbox on the same file would hand out the same numbers.
    this.#db.exec('pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = full');
    this.#db.exec(`create table if not exists records (kind text, repo integer, id integer, parent integer, body text,
      primary key (kind, repo, id)) without rowid;
      create index if not exists records_by_parent on records (kind, repo, parent, id)`);
  }

  get<K extends Kind>(kind: K, repo: number, id: number): Records[K] | undefined {
    const row = this.#db.prepare('select body from records where kind = ? and repo = ? and id = ?').get(kind, repo, id);
    return row && (JSON.parse(String(row.body)) as Records[K]);
  }

  /** All records of a kind in the order of their ids; with `parent` those of one issue. */
  list<K extends Kind>(kind: K, repo: number, parent?: number): Records[K][] {
    const rows =
      parent === undefined
        ? this.#db.prepare('select body from records where kind = ? and repo = ? order by id').all(kind, repo)
        : this.#db
            .prepare('select body from records where kind = ? and repo = ? and parent = ? order by id')
            .all(kind, repo, parent);
    return rows.map((row) => JSON.parse(String(row.body)) as Records[K]);
  }

  /** Counts the open records of a kind, without reading them out. */
  countOpen(kind: 'issue', repo: number): number {
    const sql = "select count(*) n from records where kind = ? and repo = ? and json_extract(body, '$.state') = 'open'";
    return Number(this.#db.prepare(sql).get(kind, repo)?.n ?? 0);
  }

  put<K extends Kind>(kind: K, repo: number, record: Records[K], key: { id?: number; parent?: number } = {}): void {
    this.#db
      .prepare(
        `insert into records (kind, repo, id, parent, body) values (?, ?, ?, ?, ?)
         on conflict (kind, repo, id) do update set parent = excluded.parent, body = excluded.body`,
      )
      .run(kind, repo, key.id ?? record.id, key.parent ?? null, JSON.stringify(record));
  }

  remove(kind: Kind, repo: number, id: number): void {
    this.#db.prepare('delete from records where kind = ? and repo = ? and id = ?').run(kind, repo, id);
  }

  /** Ids are unique over all kinds and never used again. */
  nextId(): number {
    const last = (this.get('counter', GLOBAL, 1)?.last ?? this.#firstId - 1) + 1;
    this.put('counter', GLOBAL, { id: 1, last });
    return last;
  }

  /** All of `work` or nothing. A transaction inside another one is part of it. */
  transaction<T>(work: () => T): T {
    if (this.#inside) return work();
    this.#db.exec('begin immediate');
    this.#inside = true;
    try {
      const result = work();
      this.#db.exec('commit');
      return result;
    } catch (error) {
      this.#db.exec('rollback');
      throw error;
    } finally {
      this.#inside = false;
    }
  }

  findUser(login: string): UserRecord | undefined {
    const wanted = login.toLowerCase();
    return this.list('user', GLOBAL).find((user) => user.login.toLowerCase() === wanted);
  }

  close(): void {
    this.#db.close();
  }
}
