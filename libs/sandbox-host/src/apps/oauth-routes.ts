import { html } from '@pipeline/domain';
import express, { type Request, type Response, Router } from 'express';
import { z } from 'zod';
import { Failure, notFound } from '../http/failure.ts';
import { sendPage } from '../http/page.ts';
import { readBody } from '../http/request.ts';
import type { OauthAppRecord } from '../state/app-records.ts';
import type { Sandbox } from '../state/model.ts';
import { authorize, EXCHANGE_ERRORS, exchange, isCallback, oauthAppOf } from './oauth-apps.ts';
import { requireOwner } from './registration.ts';

const optional = z.string().default('');
const Question = z.object({
  client_id: z.string(),
  redirect_uri: optional,
  state: optional,
  code_challenge: optional,
  code_challenge_method: optional,
});
type Question = z.output<typeof Question>;
const Decision = Question.extend({ decision: z.enum(['authorize', 'cancel']), token: optional });
const Exchange = z.object({
  client_id: optional,
  client_secret: optional,
  code: optional,
  redirect_uri: optional,
  code_verifier: optional,
});

/**
 * The web application flow of an OAuth app: a page on which a person authorizes it, and the exchange of the code. The page
 * has no login; a person confirms with their token.
 */
export function oauthRoutes(sandbox: Sandbox): Router {
  const router = Router();
  const form = express.urlencoded({ extended: false, limit: '100kb' });

  router.get('/login/oauth/authorize', (req, res) => {
    const question = Question.safeParse(req.query).data;
    const app = question && oauthAppOf(sandbox, question.client_id);
    if (!app) throw notFound();
    const problem = problemOf(app, question);
    if (problem) return res.redirect(302, answerTo(app.callbackUrl, question, problem));
    askPage(res, app, question);
  });
  router.post('/login/oauth/authorize', form, (req, res) => {
    const { decision, token, ...question } = readBody(Decision, req, 'OAuth');
    const app = oauthAppOf(sandbox, question.client_id);
    if (!app || problemOf(app, question)) throw notFound();
    const redirectUri = question.redirect_uri || app.callbackUrl;
    if (decision === 'cancel') return res.redirect(302, answerTo(redirectUri, question, DENIED));
    try {
      const user = requireOwner(sandbox, token);
      const code = authorize(sandbox, { app, user, redirectUri, challenge: question.code_challenge || null });
      res.redirect(302, answerTo(redirectUri, question, { code }));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      askPage(res, app, question, error);
    }
  });
  router.post('/login/oauth/access_token', form, (req, res) => sendToken(req, res, sandbox));
  return router;
}

/** The host answers errors of the exchange with 200. */
function sendToken(req: Request, res: Response, sandbox: Sandbox): void {
  const result = exchange(sandbox, readBody(Exchange, req, 'OAuth'));
  const body: Record<string, string> =
    'token' in result
      ? { access_token: result.token, scope: '', token_type: 'bearer' }
      : { error: result.error, error_description: EXCHANGE_ERRORS[result.error] };
  if (req.get('accept')?.includes('application/json')) res.json(body);
  else res.type('application/x-www-form-urlencoded').send(new URLSearchParams(body).toString());
}

const DENIED = { error: 'access_denied', error_description: 'The user has denied your application access.' };

function problemOf(app: OauthAppRecord, question: Question): Record<string, string> | null {
  const { redirect_uri: redirectUri, code_challenge: challenge, code_challenge_method: method } = question;
  if (redirectUri !== '' && !isCallback(app, redirectUri))
    return { error: 'redirect_uri_mismatch', error_description: EXCHANGE_ERRORS.redirect_uri_mismatch };
  if (challenge !== '' && method !== 'S256')
    return { error: 'invalid_request', error_description: 'code_challenge_method must be S256.' };
  return null;
}

function answerTo(redirectUri: string, { state }: Question, parameters: Record<string, string>): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  if (state !== '') url.searchParams.set('state', state);
  return url.href;
}

function askPage(res: Response, app: OauthAppRecord, question: Question, error?: Failure): void {
  const hidden = Object.entries(question).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const body = html`${error ? html`<p role="alert">${error.message}</p>` : null}
<p>${app.name} wants to verify who you are on this host.</p>
<form method="post" action="/login/oauth/authorize">${hidden}
<p><label>Your token on this host <input type="password" name="token" autocomplete="off"></label></p>
<button name="decision" value="authorize">Authorize ${app.name}</button>
<button name="decision" value="cancel">Cancel</button></form>`;
  sendPage(res, `Authorize ${app.name}`, body, error?.status ?? 200);
}
