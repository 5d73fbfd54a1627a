import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Request, type Response, Router } from 'express';
import { roleOf } from '../access/roles.ts';
import { authenticate, mayPushWorkflows, mayUseGit } from '../apps/auth.ts';
import { Failure } from '../http/failure.ts';
import { pushRulesOf } from '../protection/rules.ts';
import { requireWritable } from '../repos/routes.ts';
import { syncPulls } from '../repos/sync-pulls.ts';
import type { RepoRecord, Sandbox } from '../state/model.ts';
import { findKnownRepo, slugOf } from '../state/sandbox.ts';

/** git's smart HTTP protocol (clone, fetch, push), carried out by `git http-backend`. */
export function smartHttp(sandbox: Sandbox): Router {
  const router = Router();
  router.get('/:owner/:name/info/refs', (req, res, next) => {
    const { service } = req.query;
    if (service !== 'git-upload-pack' && service !== 'git-receive-pack') return next('router');
    return serve(sandbox, req, res, { path: 'info/refs', service });
  });
  for (const service of ['git-upload-pack', 'git-receive-pack'] as const) {
    router.post(`/:owner/:name/${service}`, (req, res) => serve(sandbox, req, res, { path: service, service }));
  }
  return router;
}

interface Call {
  path: string;
  service: 'git-upload-pack' | 'git-receive-pack';
}

async function serve(sandbox: Sandbox, req: Request, res: Response, call: Call): Promise<void> {
  const push = call.service === 'git-receive-pack';
  const access = authorize(sandbox, req, push);
  if (!access) {
    res
      .status(401)
      .set('WWW-Authenticate', 'Basic realm="sandbox"')
      .type('text')
      .send('a token is needed as password\n');
    return;
  }
  const { repo, login, refusesWorkflows } = access;
  // git follows it, and uses the new address for the requests that come after.
  if (slugOf(repo) !== slugOf(nameOf(req))) {
    return res.redirect(301, `${sandbox.url()}/${repo.owner}/${repo.name}.git/${call.path}?service=${call.service}`);
  }
  if (push) requireWritable(repo);
  const output = await startBackend(sandbox, req, { ...call, repo, login, refusesWorkflows });
  const head = await readHead(output);
  res.status(head.status).set(head.headers);
  if (push && call.path === call.service) {
    // A push is answered only after its effects are recorded.
    const body = Buffer.concat(await output.toArray());
    await sandbox.lock(repo.id, () => syncPulls(sandbox, repo, login));
    res.end(body);
  } else {
    await pipeline(output, res).catch((error: Error) => sandbox.log.info(`git client left: ${error.message}`));
  }
}

/** The owner and name of the path. */
const nameOf = ({ params }: Request) => ({
  owner: String(params.owner),
  name: String(params.name).replace(/\.git$/, ''),
});

interface Access {
  repo: RepoRecord;
  login: string;
  refusesWorkflows: boolean;
}

/** null asks for credentials: without any, or for a repo that does not exist for the caller. */
function authorize(sandbox: Sandbox, req: Request, push: boolean): Access | null {
  let viewer: ReturnType<typeof authenticate>;
  try {
    viewer = authenticate(sandbox, req);
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
  const { owner, name } = nameOf(req);
  const repo = findKnownRepo(sandbox, owner, name);
  if (!repo) {
    if (!viewer) return null;
    throw new Failure(404, 'Repository not found.');
  }
  const login = viewer?.login ?? '';
  if (!viewer && (push || repo.private)) return null;
  if (viewer && !mayUseGit(viewer, repo, 'read')) throw new Failure(404, 'Repository not found.');
  if (push && !(viewer && mayUseGit(viewer, repo, 'write')))
    throw new Failure(403, 'Write access to repository not granted.');
  return { repo, login, refusesWorkflows: !mayPushWorkflows(viewer, repo) };
}

/** Branches that do not exist yet are not protected: a rule would stop the first push of a repository. */
async function rulesOfPush(sandbox: Sandbox, repo: RepoRecord, login: string) {
  const { git } = sandbox;
  const list = await git.run(git.dir(repo), ['for-each-ref', '--format=%(refname:short)', 'refs/heads']);
  const branches = list.split('\n').filter(Boolean);
  return pushRulesOf(sandbox, repo, { branches, login, isAdmin: roleOf(repo, login) === 'admin' });
}

/** Starts the CGI program on the request; gives its output as it comes. */
async function startBackend(
  sandbox: Sandbox,
  req: Request,
  { repo, login, refusesWorkflows, path, service }: Call & Access,
): Promise<Readable> {
  const { git, log } = sandbox;
  const { headers } = req;
  const given = {
    CONTENT_LENGTH: headers['content-length'],
    HTTP_CONTENT_ENCODING: headers['content-encoding'],
    GIT_PROTOCOL: headers['git-protocol'],
  };
  const child = spawn('git', ['http-backend'], {
    env: {
      ...git.env,
      ...(service === 'git-receive-pack'
        ? git.refusing(await rulesOfPush(sandbox, repo, login), refusesWorkflows)
        : {}),
      GIT_PROJECT_ROOT: git.root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: `/${repo.id}.git/${path}`,
      REQUEST_METHOD: req.method,
      QUERY_STRING: path === 'info/refs' ? `service=${service}` : '',
      CONTENT_TYPE: headers['content-type'] ?? '',
      REMOTE_USER: login || 'anonymous',
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    },
  });
  await once(child, 'spawn');
  child.stderr.on('data', (chunk: Buffer) => log.warn(`git http-backend: ${chunk.toString('utf8').trim()}`));
  // A client that leaves half-way ends git's input; git then ends by itself.
  pipeline(req, child.stdin).catch((error: Error) => log.info(`git client left: ${error.message}`));
  return child.stdout;
}

/** Reads up to the empty line and leaves the rest in the stream. */
async function readHead(output: Readable): Promise<{ status: number; headers: Record<string, string> }> {
  let raw = Buffer.alloc(0);
  for await (const chunk of output.iterator({ destroyOnReturn: false })) {
    raw = Buffer.concat([raw, chunk as Buffer]);
    const end = raw.indexOf('\r\n\r\n');
    if (end < 0) continue;
    output.unshift(raw.subarray(end + 4));
    return parseHead(raw.subarray(0, end).toString('latin1'));
  }
  throw new Error('git http-backend returned no response');
}

function parseHead(head: string): { status: number; headers: Record<string, string> } {
  const fields = head.split('\r\n').map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const { status = '200', ...headers } = Object.fromEntries(fields);
  return { status: Number.parseInt(status, 10), headers };
}
