import { createAppAuth } from '@octokit/auth-app';
import type { AppInstallation, HostDiagnostics, HostIdentity, HostWebhook, RepoRef } from '@pipeline/domain';
import { installationAuth } from './app/installation-auth.ts';
import { InstallationTokens, readInstallation } from './app/installation-tokens.ts';
import { type Client, type ClientOptions, createClient } from './client.ts';
import { answered, HostError, withHostErrors } from './errors.ts';
import { paramsOf } from './repo-address.ts';
import { readLabels } from './repo-labels.ts';

export interface DiagnosticsOptions extends Omit<ClientOptions, 'auth' | 'authStrategy'> {
  /** Id and PEM key of a GitHub App, in place of `token`. */
  app?: { appId: string; privateKey: string } | undefined;
  now: () => Date;
}

/** Reads the set-up of repositories on a host, as a GitHub App or with a token. */
export function createGitHubDiagnostics(options: DiagnosticsOptions): HostDiagnostics {
  const { app, now, ...shared } = options;
  const reads = app ? appReads(app, shared, now) : tokenReads(createClient(shared));
  return {
    identity: () => withHostErrors(reads.identity().catch(rejected), now),
    installation: (repo) => withHostErrors(reads.installation(repo), now),
    webhooks: (repo) => withHostErrors(reads.webhooks(repo), now),
    labels: (repo) => withHostErrors(reads.labels(repo), now),
  };
}

function tokenReads(client: Client): HostDiagnostics {
  return {
    async identity() {
      const { data, headers } = await client.rest.users.getAuthenticated();
      return { kind: 'token', login: data.login, at: timeOf(headers.date) };
    },
    installation: async () => null,
    webhooks: (repo) => repoWebhooks(client, repo),
    labels: (repo) => readLabels(client, paramsOf(repo)),
  };
}

function appReads(
  auth: { appId: string; privateKey: string },
  shared: Omit<ClientOptions, 'auth' | 'authStrategy'>,
  now: () => Date,
): HostDiagnostics {
  const { token: _unused, ...rest } = shared;
  const client = createClient({ ...rest, authStrategy: createAppAuth, auth });
  const tokens = new InstallationTokens(client, now);
  return {
    identity: () => appIdentity(client),
    installation: (repo) => installationOn(client, repo),
    webhooks: () => appWebhooks(client),
    labels: (repo) => {
      const target = { repo, id: null };
      return readLabels(
        createClient({ ...rest, authStrategy: installationAuth, auth: { tokens, target } }),
        paramsOf(repo),
      );
    },
  };
}

/** An app that was deleted is 404. */
function rejected(error: unknown): null {
  if (answered(error, 401) || answered(error, 404)) return null;
  throw error;
}

async function installationOn(client: Client, repo: RepoRef): Promise<AppInstallation> {
  const found = await readInstallation(client, repo).catch(orNull);
  if (!found) return { state: 'missing', permissions: {} };
  const { suspended_at: suspended, permissions } = found.data;
  return { state: suspended ? 'suspended' : 'active', permissions: permissions as Record<string, string> };
}

async function appIdentity(client: Client): Promise<HostIdentity> {
  const { data, headers } = await client.rest.apps.getAuthenticated();
  if (!data?.slug) throw new HostError('refused', 'the host reported no name for the GitHub App');
  return { kind: 'app', login: `${data.slug}[bot]`, at: timeOf(headers.date) };
}

/** An app has at most one webhook, for all of its installations. */
async function appWebhooks(client: Client): Promise<HostWebhook[]> {
  const [url, app, deliveries] = await Promise.all([
    appWebhookUrl(client),
    client.rest.apps.getAuthenticated(),
    client.rest.apps.listWebhookDeliveries({ per_page: 1 }).catch(orNull),
  ]);
  if (url === null) return [];
  const lastStatus = deliveries?.data[0]?.status_code ?? null;
  return [{ url: withoutSecrets(url), active: true, events: app.data?.events ?? [], lastStatus }];
}

const appWebhookUrl = async (client: Client): Promise<string | null> =>
  (await client.rest.apps.getWebhookConfigForApp().catch(orNull))?.data.url || null;

function orNull(error: unknown): null {
  if (answered(error, 404)) return null;
  throw error;
}

async function repoWebhooks(client: Client, repo: RepoRef): Promise<HostWebhook[]> {
  const { data } = await client.rest.repos
    .listWebhooks({ ...paramsOf(repo), per_page: 100 })
    .catch((error: unknown) => {
      if (!answered(error, 403) && !answered(error, 404)) throw error;
      const message =
        'these credentials may not read the webhooks of the repo; the administrators of the repo see them';
      throw new HostError('refused', message, { httpStatus: error.status, cause: error });
    });
  return data.flatMap(({ config, active, events, last_response: last }) =>
    config.url === undefined ? [] : [{ url: withoutSecrets(config.url), active, events, lastStatus: last.code }],
  );
}

const withoutSecrets = (address: string): string => {
  const url = URL.canParse(address) ? new URL(address) : null;
  return url ? url.origin + url.pathname : 'an invalid address';
};

function timeOf(date: string | undefined): string | null {
  const time = Date.parse(date ?? '');
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
