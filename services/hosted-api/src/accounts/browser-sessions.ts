import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AppError } from '@pipeline/domain';
import { beginSession, endSession, hashTokenBytes } from '@pipeline/engine';
import type { Authenticate, Identity } from '@pipeline/http';
import { type Account, findSessionAccount, type Store } from '@pipeline/store';
import type { PublicAddress } from '../auth/public-address.ts';
import type { OauthKeys } from './keys.ts';

const SESSION_SECONDS = 12 * 60 * 60;
const COOKIE_VALUE = /^[\w-]{43}$/;

/** The visitor of a page. */
export interface Visitor {
  /** null = no user has logged in. */
  account: Account | null;
  /** Goes into every form of the page. */
  formToken: string;
  /** Headers of the answer; they make a cookie for a browser that has none. */
  headers: Readonly<Record<string, string>>;
}

/** A logged-in user whose page sends a request. */
export interface SessionIdentity extends Identity {
  /** SHA-256 of the cookie's value, in hexadecimal. */
  sessionId: string;
  account: Account;
  formToken: string;
}

/** A proved login: `method` is `password`, `invitation`, or the id of an identity provider. */
interface Login {
  account: Pick<Account, 'id' | 'email'>;
  method: string;
  address: string;
}

/**
 * Sessions of users who are logged in at a browser. The cookie is a random name of the session; the store has its
 * SHA-256. A browser without session has such a cookie too, without a user: forms are bound to it, also the login's
 * own.
 */
export class BrowserSessions {
  readonly #store: Store;
  readonly #keys: OauthKeys;
  readonly #name: string;
  readonly #attributes: string;

  constructor(store: Store, keys: OauthKeys, { secure }: PublicAddress) {
    this.#store = store;
    this.#keys = keys;
    // The prefix keeps other hosts of the domain from setting it; browsers take it over https only.
    this.#name = secure ? '__Host-pipeline_session' : 'pipeline_session';
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  }

  async visitor(request: IncomingMessage): Promise<Visitor> {
    const known = this.#cookieOf(request);
    const cookie = known ?? newValue();
    const account = known === null ? null : await findSessionAccount(this.#store.db, hashTokenBytes(known));
    return {
      account,
      formToken: this.#keys.formToken(cookie),
      headers: known === null ? { 'set-cookie': `${this.#name}=${cookie}; ${this.#attributes}` } : {},
    };
  }

  /**
   * The check of requests that the pages send by script. Those that change something carry the form token of the
   * session in a header, which a page of another site can neither read nor send.
   */
  readonly authenticate: Authenticate<SessionIdentity> = async (request) => {
    const cookie = this.#cookieOf(request);
    if (cookie === null) throw new AppError('AUTH_REQUIRED', 'Log in at /account/login');
    const hash = hashTokenBytes(cookie);
    const account = await findSessionAccount(this.#store.db, hash);
    if (!account) throw new AppError('AUTH_FAILED', 'The session has ended: log in again');
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead && !this.#keys.isFormToken(cookie, String(request.headers['x-form-token'] ?? '')))
      throw new AppError('ORIGIN_NOT_ALLOWED', 'The header x-form-token does not belong to this session');
    const sessionId = hash.toString('hex');
    return { key: `session ${sessionId.slice(0, 16)}`, sessionId, account, formToken: this.#keys.formToken(cookie) };
  };

  /** Returns whether a form was made for this browser, and not by another site. */
  isOurForm(request: IncomingMessage, form: URLSearchParams): boolean {
    const cookie = this.#cookieOf(request);
    return cookie !== null && this.#keys.isFormToken(cookie, form.get('form_token') ?? '');
  }

  /**
   * Begins a session under a new name, so that a cookie which was planted before leads nowhere.
   * @returns the headers.
   */
  async begin(request: IncomingMessage, login: Login): Promise<Record<string, string>> {
    await this.#forget(request);
    const cookie = newValue();
    await beginSession(this.#store, { ...login, hash: hashTokenBytes(cookie), ttlMs: SESSION_SECONDS * 1000 });
    return { 'set-cookie': `${this.#name}=${cookie}; Max-Age=${SESSION_SECONDS}; ${this.#attributes}` };
  }

  /** Ends the session of this browser. @returns the headers. */
  async end(request: IncomingMessage): Promise<Record<string, string>> {
    await this.#forget(request);
    return { 'set-cookie': `${this.#name}=; Max-Age=0; ${this.#attributes}` };
  }

  async #forget(request: IncomingMessage): Promise<void> {
    const cookie = this.#cookieOf(request);
    if (cookie !== null) await endSession(this.#store, hashTokenBytes(cookie));
  }

  #cookieOf({ headers }: IncomingMessage): string | null {
    const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
    const values = pairs
      .filter((pair) => pair.startsWith(`${this.#name}=`))
      .map((pair) => pair.slice(this.#name.length + 1));
    return values.find((value) => COOKIE_VALUE.test(value)) ?? null;
  }
}

const newValue = () => randomBytes(32).toString('base64url');
