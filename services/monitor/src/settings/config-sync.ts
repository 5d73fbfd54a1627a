import { isDeepStrictEqual } from 'node:util';
import { formatSlug, type HostRepo, parseSlug, type Slug, slugKey } from '@pipeline/domain';
import { type Engine, NameTakenError, putRepo } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { ensureTenant, type RepoInput, type RepoRow, repoFormerlyAt } from '@pipeline/store';
import type { ConnectedHost } from '../hosts/hosts.ts';
import type { LoadedConfig, RepoConfig } from './config.ts';
import type { ConfigInForce } from './config-in-force.ts';

interface SyncDeps {
  engine: Engine;
  hosts: readonly ConnectedHost[];
  config: Pick<ConfigInForce, 'file'>;
  log: Logger;
}

/** An entry of the file, and its state on the host. */
interface Entry {
  slug: Slug;
  host: ConnectedHost | undefined;
  found: HostRepo | null;
}

const PARALLEL = 8;

/**
 * Adds the repos of the configuration file to the store, or updates them: all of them at the start, the new and changed
 * ones after a reload. A repo that is missing from the file is never disabled. A repo whose host does not respond is
 * added as configured and read again at the next tick. Does nothing once all is done; replicas may do it at once.
 */
export class ConfigSync {
  readonly #deps: SyncDeps;
  #file: LoadedConfig;
  #open: readonly RepoConfig[];

  constructor(deps: SyncDeps) {
    this.#deps = deps;
    this.#file = deps.config.file;
    this.#open = this.#file.config.repos;
  }

  async tick(): Promise<void> {
    this.#readFile();
    const unanswered: RepoConfig[] = [];
    for (let at = 0; at < this.#open.length; at += PARALLEL) {
      const some = this.#open.slice(at, at + PARALLEL);
      const answered = await Promise.all(some.map((repo) => this.#enter(repo)));
      unanswered.push(...some.filter((_repo, index) => !answered[index]));
    }
    this.#open = unanswered;
  }

  /** An unchanged entry is not applied again, so that a reload does not enable a repo that an operator disabled. */
  #readFile(): void {
    const { file } = this.#deps.config;
    if (file === this.#file) return;
    const before = this.#file.config.repos.filter((repo) => !this.#open.includes(repo));
    this.#open = file.config.repos.filter((repo) => !before.some((known) => isDeepStrictEqual(known, repo)));
    this.#file = file;
  }

  /** @returns false when its host should be queried again. */
  async #enter(config: RepoConfig): Promise<boolean> {
    const { engine, hosts } = this.#deps;
    const slug = parseSlug(config.slug);
    if (!slug) return true;
    const host = config.vcs ? hosts.find(({ kind }) => kind === config.vcs) : hosts[0];
    const found = await this.#ask(host, slug);
    const tenantId = await ensureTenant(engine.store.db, config.tenant);
    const moved = await repoFormerlyAt(engine.store.db, tenantId, slug);
    if (moved && moved.host_id !== found?.id) return this.#leave(config, moved, found);
    await this.#put(tenantId, config, { slug, host, found });
    return found !== null || !host;
  }

  async #put(tenantId: number, config: RepoConfig, { slug, host, found }: Entry): Promise<void> {
    const { engine, log } = this.#deps;
    const defaultBranch = this.#file.ownBranch.has(config) ? config.branch : (found?.defaultBranch ?? config.branch);
    const vcsHost = host?.kind ?? config.vcs ?? 'github';
    const input: RepoInput = {
      ...config,
      slug: found ? { owner: found.owner, name: found.name } : slug,
      vcsHost,
      cloneUrl: found?.cloneUrl ?? host?.cloneUrl(slug) ?? `https://github.com/${config.slug}.git`,
      defaultBranch,
      installationId: null,
      enabled: true,
    };
    const { slug: repo, tenant } = config;
    try {
      await putRepo(engine, tenantId, input, found);
    } catch (error) {
      if (!(error instanceof NameTakenError)) throw error;
      log.warn('the configuration names a repository that is another one than the known one of that name', { repo });
      return;
    }
    if (found && slugKey(found) !== slugKey(slug)) {
      log.warn('a repo of the configuration was renamed: change its entry', { repo, name: formatSlug(found) });
    }
    log.info('repo entered', { repo, tenant, vcsHost, defaultBranch, answered: !!found });
  }

  /**
   * The entry names a repo that was renamed. It is known by its id under its new name; who has the old name now is not
   * what the entry meant. @returns as `#enter`.
   */
  #leave({ slug }: RepoConfig, moved: RepoRow, found: HostRepo | null): boolean {
    const fields = { repo: slug, name: formatSlug(moved) };
    if (found) this.#deps.log.warn('a repo of the configuration was renamed, and another one has its name', fields);
    return found !== null;
  }

  async #ask(host: ConnectedHost | undefined, slug: Slug) {
    const repo = `${slug.owner}/${slug.name}`;
    if (!host) {
      this.#deps.log.warn('no credentials for the host of this repo: it is not polled and receives no writes', {
        repo,
      });
      return null;
    }
    try {
      const found = await host.vcs.getRepo(slug);
      if (!found) this.#deps.log.warn('the host has no such repo, or these credentials cannot see it', { repo });
      return found;
    } catch (error) {
      this.#deps.log.warn('the repo could not be read from the host; using the configured branch', { repo, error });
      return null;
    }
  }
}
