import { APP_EVENTS, APP_PERMISSIONS, AppError, withoutTrailing } from '@pipeline/domain';
import { envPemKey } from '@pipeline/runtime';
import { z } from 'zod';
import { createClient } from '../client.ts';
import { HostError, withHostErrors } from '../errors.ts';
import type { HostUrls } from '../host-urls.ts';

export interface AppRegistration {
  /** Suggested name; it can be changed on the host. */
  name: string;
  /** Organisation that owns the app; null = the account that is logged in. */
  org: string | null;
  /** null = no webhook and no events: the host refuses events without an address. */
  webhookUrl: string | null;
  /** Address to which the host sends the browser with the code. */
  redirectUrl: string;
  /** Returned with the code. */
  state: string;
}

/** Returns the form with which a browser registers the GitHub App of the services: where it is posted, and its fields. */
export function appRegistrationForm(web: string, registration: AppRegistration) {
  const { name, org, webhookUrl, redirectUrl, state } = registration;
  const manifest = {
    name,
    url: webhookUrl === null ? web : new URL(webhookUrl).origin,
    redirect_url: redirectUrl,
    public: false,
    default_permissions: APP_PERMISSIONS,
    ...(webhookUrl !== null && { hook_attributes: { url: webhookUrl, active: true }, default_events: APP_EVENTS }),
  };
  const path = org === null ? '/settings/apps/new' : `/organizations/${encodeURIComponent(org)}/settings/apps/new`;
  const action = `${withoutTrailing(web, '/')}${path}?state=${encodeURIComponent(state)}`;
  return { action, manifest: JSON.stringify(manifest) };
}

const Converted = z.object({
  id: z.int().positive(),
  slug: z.string().regex(/^[\w.-]{1,100}$/),
  html_url: z.url({ protocol: /^https?$/ }),
  owner: z.object({ login: z.string() }).nullish(),
  webhook_secret: z
    .string()
    .regex(/^[\w+/=.-]{1,200}$/)
    .nullish(),
  pem: envPemKey(),
});

/** A GitHub App with its secrets. */
export interface ConvertedApp {
  id: number;
  slug: string;
  owner: string | null;
  /** Page on which it is installed. */
  installUrl: string;
  privateKey: string;
  /** null for an app without a webhook. */
  webhookSecret: string | null;
}

interface ConvertOptions {
  userAgent: string;
  now: () => Date;
}

/**
 * Exchanges the code of a registration for the app and its secrets. A code is valid for an hour and for one request.
 * @throws AppError INVALID_INPUT for a code that the host does not accept; HOST_UNAVAILABLE for any other failure.
 */
export async function convertAppCode(urls: HostUrls, code: string, options: ConvertOptions): Promise<ConvertedApp> {
  const { userAgent, now } = options;
  const client = createClient({ baseUrl: urls.api, clientType: 'github', userAgent });
  try {
    const call = client.rest.apps.createFromManifest({ code });
    const { data } = await withHostErrors(call, now);
    return readApp(urls.web, data);
  } catch (cause) {
    if (cause instanceof HostError && (cause.kind === 'not-found' || cause.httpStatus === 422)) {
      const message = `${urls.api} refused the code: it was used before, or is older than an hour; run the command again`;
      throw new AppError('INVALID_INPUT', message, { cause });
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `${urls.api} did not return the GitHub App: ${why}. If the host lists the app, delete it there; then run the command again`;
    throw new AppError('HOST_UNAVAILABLE', message, { cause });
  }
}

function readApp(web: string, data: unknown): ConvertedApp {
  const { data: app, error } = Converted.safeParse(data);
  if (error) throw new Error(`the response has another form: ${z.prettifyError(error).replaceAll('\n', ' ')}`);
  const { id, slug, html_url: page, owner, webhook_secret: secret, pem } = app;
  return {
    id,
    slug,
    privateKey: pem,
    webhookSecret: secret ?? null,
    owner: owner?.login ?? null,
    // Only the path: the host may call itself by another name than the user does.
    installUrl: `${web}${new URL(page).pathname}/installations/new`,
  };
}
