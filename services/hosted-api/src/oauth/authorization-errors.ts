import type { IncomingMessage } from 'node:http';
import type { Client, Configuration, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { type AuthorizationProblem, programOf } from '../accounts/program.ts';
import type { Page } from '../pages/layout.ts';

export interface ErrorPageDeps {
  /** Returns whether the person at this browser has a connection with that program. */
  isApproved: (request: IncomingMessage, clientId: string) => Promise<boolean>;
  errorPage: (problem: AuthorizationProblem) => Page;
}

type RenderError = NonNullable<Configuration['renderError']>;

/**
 * Keeps errors of authorization requests on a page of this service. Any client can register a program with any address,
 * so a redirect that needs no decision of a person would make this service a way to send people there (RFC 9700, 4.11).
 * An error is redirected only when the person refused on the consent page, which shows the address, or has a connection
 * with the program already.
 */
export class AuthorizationErrors {
  readonly #deps: ErrorPageDeps;
  /** Errors that the library would redirect. It has checked that the address is registered. */
  readonly #held = new WeakSet<object>();

  constructor(deps: ErrorPageDeps) {
    this.#deps = deps;
  }

  /** The library emits an error before it decides where the error goes. */
  hold(provider: Provider): void {
    const hold = (_ctx: KoaContextWithOIDC, error: Error & { allow_redirect?: boolean }) => {
      if (!error.allow_redirect) return;
      error.allow_redirect = false;
      this.#held.add(error);
    };
    provider.on('authorization.error', hold);
    provider.on('server_error', hold);
  }

  readonly render: RenderError = async (ctx, out, error) => {
    const { client } = ctx.oidc;
    const redirect = this.#held.has(error) && client ? String(ctx.oidc.params?.redirect_uri ?? '') : '';
    if (client && redirect !== '' && (await this.#mayRedirect(ctx, client))) {
      ctx.status = 303;
      ctx.redirect(withAnswer(redirect, { ...out }));
      return;
    }
    const { html, policy } = this.#deps.errorPage({
      error: out.error,
      description: out.error_description,
      program: client ? programOf(client) : null,
      redirect: redirect || null,
    });
    // Errors that are meant for a redirect come with its status.
    if (ctx.status < 400) ctx.status = 400;
    ctx.type = 'html';
    ctx.set({ 'content-security-policy': policy, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    ctx.body = html;
  };

  async #mayRedirect(ctx: KoaContextWithOIDC, { clientId }: Client): Promise<boolean> {
    if (ctx.oidc.entities.Interaction?.result?.error === REFUSED) return true;
    return this.#deps.isApproved(ctx.req, clientId);
  }
}

/** The result of an interaction in which the person refused. */
export const REFUSED = 'access_denied';

function withAnswer(redirect: string, answer: Readonly<Record<string, unknown>>): string {
  const url = new URL(redirect);
  for (const [name, value] of Object.entries(answer)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}
