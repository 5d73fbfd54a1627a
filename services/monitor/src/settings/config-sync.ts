import { parseSlug, type Slug } from '@pipeline/domain';
import { type Engine, putRepo } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { ensureTenant } from '@pipeline/store';
import type { ConnectedHost } from '../hosts/hosts.ts';
import type { LoadedConfig, RepoConfig } from './config.ts';

interface SyncDeps {
  engine: Engine;
  hosts: readonly ConnectedHost[];
  loaded: LoadedConfig;
  log: Logger;
}

const PARALLEL = 8;

/**
 * Brings the repos of the configuration into the store: they are made or updated and never disabled by their absence. A repo whose host does not answer is entered as
 * configured and asked for again at the next tick. Does nothing once all is done; replicas may do it at once.
 */
export class ConfigSync {
  readonly #deps: SyncDeps;
  #open: readonly RepoConfig[];

  constructor(deps: SyncDeps) {
    this.#deps = deps;
    this.#open = deps.loaded.config.repos;
  }

  async tick(): Promise<void> {
    const unanswered: RepoConfig[] = [];
    for (let at = 0; at < this.#open.length; at += PARALLEL) {
      const some = this.#open.slice(at, at + PARALLEL);
      const answered = await Promise.all(some.map((repo) => this.#enter(repo)));
      unanswered.push(...some.filter((_repo, index) => !answered[index]));
    }
    this.#open = unanswered;
  }

  /** @returns false when its host should be asked again. */
  async #enter(config: RepoConfig): Promise<boolean> {
    const { engine, hosts, loaded, log } = this.#deps;
    const slug = parseSlug(config.slug);
    if (!slug) return true;
    const host = config.vcs ? hosts.find(({ kind }) => kind === config.vcs) : hosts[0];
    const found = await this.#ask(host, slug);
    const tenantId = await ensureTenant(engine.store.tenant, config.tenant);
    const defaultBranch = loaded.ownBranch.has(config) ? config.branch : (found?.defaultBranch ?? config.branch);
    const vcsHost = host?.kind ?? config.vcs ?? 'github';
    await putRepo(engine, tenantId, {
      slug: found ? { owner: found.owner, name: found.name } : slug,
      vcsHost,
      cloneUrl: found?.cloneUrl ?? host?.cloneUrl(slug) ?? `https://github.com/${config.slug}.git`,
      defaultBranch,
      setupCommand: config.setupCommand,
      poolSize: config.poolSize,
      installationId: null,
      enabled: true,
    });
    log.info('repo entered', { repo: config.slug, tenant: config.tenant, vcsHost, defaultBranch, answered: !!found });
    return found !== null || !host;
  }

  async #ask(host: ConnectedHost | undefined, slug: Slug) {
    const repo = `${slug.owner}/${slug.name}`;
    if (!host) {
      this.#deps.log.warn('no credentials for the host of this repo: it is not polled and receives no writes', {
        repo,
      });
      return null;
    }
    return host.vcs.getRepo(slug).catch((error: unknown) => {
      this.#deps.log.warn('the repo could not be read from the host; using the configured branch', { repo, error });
      return null;
    });
  }
}
