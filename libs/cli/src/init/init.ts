import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { APP_PERMISSIONS, AppError, html } from '@pipeline/domain';
import { DeadlineError, withDeadline } from '@pipeline/runtime';
import type { HostUrls } from '@pipeline/vcs';
import type { ConvertedApp } from '@pipeline/vcs/github';
import type { Command } from 'commander';
import { openBrowser } from '../browser/browser.ts';
import { startLoopback } from '../browser/loopback.ts';
import { page } from '../browser/pages.ts';
import { type Answer, type LocalSession, leaf, type Run } from '../command/command.ts';
import { appVariables, envText, requireFreeFile, writeEnvFile } from './app-file.ts';
import { type InitOptions, type InitSettings, readOptions } from './options.ts';

/** A form that a browser posts to the host. */
interface RegistrationForm {
  action: string;
  manifest: string;
}

/** Adds the command that registers a GitHub App for the services and stores its secrets. */
export function initCommand(program: Command, run: Run<LocalSession>): void {
  leaf<InitOptions, LocalSession>(program, run, {
    usage: 'init',
    description:
      'register a GitHub App with the permissions that the services need, store its id, private key and webhook secret as environment variables, and open the page that installs it; needs a browser, and no database',
    writes: false,
    options: [
      ['--host <url>', 'URL of the host, such as https://github.example.com (default: https://github.com)'],
      ['--org <login>', 'organisation that owns the app (default: the account that is logged in on the host)'],
      ['--name <name>', 'name of the app, at most 34 characters, unique on the host (default: pipeline-…)'],
      [
        '--webhook-url <url>',
        'public URL of the webhook endpoint of the hosted API, such as https://pipeline.example.org/webhooks/github (default: no webhook; the monitor polls)',
      ],
      [
        '--file <path>',
        'file of environment variables to create, readable by its owner only (default: github-app.env)',
      ],
      ['--force', 'replace an existing file'],
      ['--print', 'print the variables instead of storing them'],
      ['--port <n>', 'port on 127.0.0.1 for the browser (default: any free port)'],
      ['--timeout <minutes>', 'minutes to wait for the browser, 1 to 60 (default: 10)'],
      ['--no-open', 'do not start a browser; required when standard input is not a terminal'],
    ],
    action: (session, _args, options) => init(session, options),
  });
}

async function init({ env, streams }: LocalSession, options: InitOptions): Promise<Answer> {
  const settings = readOptions(options, streams.stdin.isTTY === true);
  const { file } = settings;
  if (file !== null) await requireFreeFile(file, settings.force);
  // Loaded lazily: loading the host client takes 0.2 s.
  const [{ hostUrls }, { appRegistrationForm, convertAppCode }] = await Promise.all([
    import('@pipeline/vcs'),
    import('@pipeline/vcs/github'),
  ]);
  const urls = hostUrls(settings.host);
  const state = randomBytes(32).toString('base64url');
  const report = reporter(streams, options.json === true);
  const loopback = await startLoopback({
    port: settings.port,
    state,
    failureTitle: 'The GitHub App is not set up',
    firstPage: (redirectUrl) => formPage(appRegistrationForm(urls.web, { ...settings, redirectUrl, state })),
    acceptErrors: false,
    onRefused: (reason) => report({ notice: reason }),
  });
  try {
    report({ open: loopback.url });
    if (settings.open) openBrowser(loopback.url, env);
    const callback = await inTime(loopback.callback, settings.timeoutMinutes);
    try {
      const now = () => new Date();
      const app = await convertAppCode(urls, callback.code, { userAgent: 'pipeline-cli', now });
      const answer = await store(app, urls, settings);
      await callback.redirect(app.installUrl);
      if (file === null) report({ install: app.installUrl });
      return answer;
    } catch (error) {
      await callback.fail(error instanceof Error ? error.message : String(error));
      throw error;
    }
  } finally {
    await loopback.close();
  }
}

async function inTime<T>(work: Promise<T>, minutes: number): Promise<T> {
  try {
    return await withDeadline(work, minutes * 60_000, 'the registration');
  } catch (cause) {
    if (!(cause instanceof DeadlineError)) throw cause;
    const message = `the host did not send the browser back within ${minutes} minutes; run the command again`;
    throw new AppError('REQUEST_TIMEOUT', message, { cause });
  }
}

async function store(app: ConvertedApp, urls: HostUrls, { file, force, org }: InitSettings): Promise<Answer> {
  const variables = appVariables(app, urls.api);
  const { id, slug, owner, installUrl } = app;
  const data = { id, slug, owner, installUrl };
  const path = org === null ? '/settings/apps/' : `/organizations/${org}/settings/apps/`;
  const settingsUrl = `${urls.web}${path}${slug}`;
  const text = envText(variables, `GitHub App ${slug}: ${settingsUrl}`);
  if (file === null) return { data: { ...data, variables }, text: text.trimEnd() };
  await writeEnvFile(file, { text, force, remedy: `generate another private key at ${settingsUrl}` });
  const names = Object.keys(variables);
  const lines = [
    `GitHub App ${slug} (id ${id}) is registered${owner === null ? '' : ` for ${owner}`}`,
    `${resolve(file)} contains ${names.join(', ')}; give it to the monitor and the hosted API`,
    `Install the app on your repositories: ${installUrl}`,
    'Then add them: pipeline repo add owner/name',
  ];
  return { data: { ...data, file: resolve(file), variables: names }, text: lines.join('\n') };
}

/** Progress for the user, on standard error; one JSON document per line with --json. */
type Progress = { open: string } | { install: string } | { notice: string };

const reporter = (streams: LocalSession['streams'], json: boolean) => (progress: Progress) => {
  streams.stderr.write(`${json ? JSON.stringify(progress) : textOf(progress)}\n`);
};

function textOf(progress: Progress): string {
  if ('open' in progress) return `Open this address in a browser on this machine: ${progress.open}`;
  if ('install' in progress) return `Install the app on your repositories: ${progress.install}`;
  return `notice: ${progress.notice}`;
}

/** Returns the page that leads to the host, with the permissions that are requested there. */
function formPage({ action, manifest }: RegistrationForm): string {
  const permissions = Object.entries(APP_PERMISSIONS).map(([name, level]) => html`<li>${name}: ${level}</li>`);
  return page(
    'Register the GitHub App of the pipeline',
    html`<p>${new URL(action).host} shows the app and asks you to confirm it. The app has these permissions where it is installed:</p>
<ul>${permissions}</ul>
<form method="post" action="${action}"><input type="hidden" name="manifest" value="${manifest}">
<button>Continue to ${new URL(action).host}</button></form>`,
  );
}
