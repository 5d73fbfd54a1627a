import type { upsertRepo } from '../src/index.ts';

type RepoInput = Parameters<typeof upsertRepo>[2];

/** Returns the input that adds a repo of the sandbox. */
export const aRepo = (slug: string, over: Partial<RepoInput> = {}): RepoInput => {
  const [owner = '', name = ''] = slug.split('/');
  return {
    slug: { owner, name },
    vcsHost: 'sandbox',
    cloneUrl: 'http://127.0.0.1/x.git',
    defaultBranch: 'main',
    setupCommand: null,
    poolSize: null,
    installationId: null,
    enabled: true,
    ...over,
  };
};
