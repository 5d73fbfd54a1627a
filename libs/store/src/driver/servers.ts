import type { PostgresPool } from 'kysely';
import type pg from 'pg';
import { isUnavailable } from './store-errors.ts';

interface Address {
  host: string;
  port: number;
}

/** The server that a pool uses, with its position in the connection URL, from 1. */
export interface ServerInUse extends Address {
  position: number;
}

const DEFAULT_PORT = 5_432;
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;

/**
 * The servers of a connection URL: one, or several separated by commas as libpq writes them
 * (`postgres://user@a:5432,b:5432/db`), of which one is the primary at a time. Connections go to the server that
 * accepted the last one; after a failure the next server is tried.
 */
export class Servers {
  /** The URL with the first server alone, which any parser of URLs accepts. */
  readonly url: string;
  readonly #addresses: readonly Address[];
  #current = 0;
  #accepted: Address | undefined;

  /** @throws TypeError when the text is no postgres:// URL. */
  constructor(databaseUrl: string) {
    const [, start = '', list = '', rest = ''] = PARTS.exec(databaseUrl) ?? [];
    const hosts = list.split(',');
    const parsed = hosts.map((host) => new URL(`${start}${host}${rest}`));
    const [first] = parsed;
    if (!first || (hosts.length > 1 && parsed.some(({ hostname }) => hostname === '')))
      throw new TypeError('not a postgres:// URL');
    this.url = first.href;
    this.#addresses = parsed.map(({ hostname, port }) => ({
      host: decodeURIComponent(hostname).replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? DEFAULT_PORT : Number(port),
    }));
  }

  get count(): number {
    return this.#addresses.length;
  }

  /** The server that the next connection goes to. */
  get current(): Address | undefined {
    return this.#addresses[this.#current];
  }

  /** The server that accepted the last connection; null before the first one. */
  get inUse(): ServerInUse | null {
    if (this.#accepted === undefined) return null;
    return { ...this.#accepted, position: this.#addresses.indexOf(this.#accepted) + 1 };
  }

  accepted(address: Address | undefined): void {
    this.#accepted = address;
  }

  /** Continues with the next server, unless another failure of the same one has done so. */
  failed(address: Address | undefined): void {
    if (address === this.current) this.#current = (this.#current + 1) % this.#addresses.length;
  }
}

/** True for a postgres:// URL of one server or several. */
export function isDatabaseUrl(text: string): boolean {
  try {
    return new Servers(text).count > 0;
  } catch {
    return false;
  }
}

/** Servers that connections may use: the one that accepts writes, or any. */
type ServerRole = 'primary' | 'any';

/** The server is a standby. Code `cannot_connect_now`: it may be promoted, or another server is the primary. */
class StandbyError extends Error {
  readonly code = '57P03';

  constructor({ host, port }: Address) {
    super(`the server at ${host}:${port} is a standby, not the primary`);
    this.name = 'StandbyError';
  }
}

type Callback = (error?: Error) => void;

/** A client that connects to one of the servers after the other, and with role `primary` refuses standbys. */
export function serverClient(Base: typeof pg.Client, servers: Servers, role: ServerRole): typeof pg.Client {
  class ServerClient extends Base {
    override connect(callback?: unknown): never {
      if (callback !== undefined) return this.#connect(callback as Callback) as never;
      const connected = new Promise((resolve, reject) => {
        this.#connect((error) => (error ? reject(error) : resolve(this)));
      });
      return connected as never;
    }

    #connect(callback: Callback): void {
      const server = servers.current;
      // One server: pg's own reading of the URL holds, sockets included.
      if (server && servers.count > 1) Object.assign(this, server);
      let mayBeStandby = false;
      // Reported by PostgreSQL before the first statement. A pooler may report an earlier state, so `on` is verified.
      this.connection.on('parameterStatus', (status: { parameterName: string; parameterValue: string }) => {
        if (status.parameterName === 'in_hot_standby') mayBeStandby = status.parameterValue === 'on';
      });
      const settle = (error?: Error | null) => {
        if (error) servers.failed(server);
        else servers.accepted(server);
        callback(error ?? undefined);
      };
      super.connect((error?: Error | null) => {
        if (error || !mayBeStandby || role === 'any') return settle(error);
        this.#assertPrimary().then(() => settle(), settle);
      });
    }

    async #assertPrimary(): Promise<void> {
      const { rows } = await this.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
      if (rows[0]?.standby !== true) return;
      await this.end();
      throw new StandbyError({ host: this.host, port: this.port });
    }
  }
  return ServerClient as typeof pg.Client;
}

/** The pool, whose checkout tries each of the servers once when a connection fails. */
export function tryingEach(pool: pg.Pool, servers: Servers): PostgresPool {
  const connect = async (attemptsLeft: number): Promise<pg.PoolClient> => {
    const tried = servers.current;
    try {
      return await pool.connect();
    } catch (error) {
      // Without another server the wait for a free connection has ended.
      if (attemptsLeft === 0 || servers.current === tried || !isUnavailable(error)) throw error;
      return connect(attemptsLeft - 1);
    }
  };
  return { connect: () => connect(servers.count - 1), end: () => pool.end(), options: pool.options };
}
