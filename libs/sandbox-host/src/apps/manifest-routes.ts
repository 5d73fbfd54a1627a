import { randomBytes } from 'node:crypto';
import { html } from '@pipeline/domain';
import express, { type Request, type Response, Router } from 'express';
import { z } from 'zod';
import { Failure } from '../http/failure.ts';
import { sendPage } from '../http/page.ts';
import { readBody } from '../http/request.ts';
import type { Sandbox } from '../state/model.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { convertCode, registerApp, requireOwner } from './registration.ts';
import { renderApp } from './render.ts';

const Form = z.object({ manifest: z.string(), state: z.string().default(''), owner: z.string().default('') });
const Confirmation = Form.extend({ name: z.string().trim().min(1).max(34), token: z.string() });

/**
 * Registration of an app from a manifest: the page that a program's form leads to, its confirmation, and the exchange of
 * the code. The pages have no login; a person confirms with their token.
 */
export function manifestRoutes(sandbox: Sandbox): Router {
  const router = Router();
  const form = express.urlencoded({ extended: false, limit: '100kb' });

  const show = (req: Request, res: Response) => {
    const { manifest: text } = readBody(Form, req, 'Manifest');
    const { manifest, problems } = readManifest(text);
    if (!manifest) return refuse(res, problems);
    const query = z
      .object({ state: z.string().default('') })
      .catch({ state: '' })
      .parse(req.query);
    confirmPage(res, { manifest, text, state: query.state, owner: String(req.params.org ?? '') });
  };
  router.post('/settings/apps/new', form, show);
  router.post('/organizations/:org/settings/apps/new', form, show);

  router.post('/settings/apps/manifest', form, (req, res) => {
    const { manifest: text, state, owner, name, token } = readBody(Confirmation, req, 'Manifest');
    const { manifest, problems } = readManifest(text);
    if (!manifest) return refuse(res, problems);
    const back = new URL(manifest.redirect_url);
    try {
      const user = requireOwner(sandbox, token, owner === '' ? undefined : owner);
      back.searchParams.set('code', registerApp(sandbox, manifest, { name, owner: owner || user.login }));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return confirmPage(res, { manifest, text, state, owner, name, error });
    }
    if (state !== '') back.searchParams.set('state', state);
    res.redirect(302, back.href);
  });

  router.post('/app-manifests/:code/conversions', async (req, res) => {
    const { app, pem, webhookSecret } = await convertCode(sandbox, req.params.code);
    const { installations_count: _, ...rendered } = renderApp(sandbox, app, 0);
    const client = { client_id: `Iv23${app.id}`, client_secret: randomBytes(20).toString('hex') };
    res.status(201).json({ ...rendered, ...client, webhook_secret: webhookSecret, pem });
  });
  return router;
}

function refuse(res: Response, problems: readonly string[]): void {
  const items = problems.map((problem) => html`<li>Error ${problem}</li>`);
  const body = html`<p>The configuration does not appear to be a valid GitHub App manifest.</p><ul>${items}</ul>`;
  sendPage(res, 'Invalid GitHub App configuration', body, 422);
}

interface Confirm {
  manifest: Manifest;
  text: string;
  state: string;
  owner: string;
  name?: string;
  error?: Failure;
}

function confirmPage(res: Response, { manifest, text, state, owner, name = manifest.name, error }: Confirm): void {
  const permissions = Object.entries(manifest.default_permissions).map(
    ([key, level]) => html`<li>${key}: ${level}</li>`,
  );
  const body = html`${error ? html`<p role="alert">${error.message}</p>` : null}
<p>Account: ${owner === '' ? 'yours' : owner}. Permissions:</p><ul>${permissions}</ul>
<p>Events: ${manifest.default_events.join(', ') || 'none'}. Webhook: ${manifest.hook_attributes?.url ?? 'none'}.</p>
<form method="post" action="/settings/apps/manifest">
<input type="hidden" name="manifest" value="${text}"><input type="hidden" name="state" value="${state}">
<input type="hidden" name="owner" value="${owner}">
<p><label>GitHub App name <input name="name" value="${name ?? ''}" maxlength="34" required></label></p>
<p><label>Your token on this host <input type="password" name="token" autocomplete="off" required></label></p>
<button>Create GitHub App</button></form>`;
  sendPage(res, 'Create GitHub App', body, error?.status ?? 200);
}
