import { type ClientRequestArgs, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { deadlineSignal } from '@pipeline/runtime';

/** The engine itself waits 10 s for the container to stop before it kills it. */
export const DOCKER_TIMEOUT_MS = 30_000;

/** The engine answers errors as `{message}`, short. */
const MAX_ANSWER_BYTES = 16 * 1024;

/**
 * Lets the Docker engine restart a container. Its API is spoken without a version, so the engine takes its own.
 * @param dockerHost as DOCKER_HOST has it: unix:///path, or tcp, http or https with host and port.
 * @throws Error that names what the engine answered, or why it was not reached.
 */
export async function restartContainer(dockerHost: string, container: string, signal?: AbortSignal): Promise<void> {
  const path = `/containers/${encodeURIComponent(container)}/restart`;
  const { status, text } = await post(dockerHost, path, deadlineSignal(DOCKER_TIMEOUT_MS, signal)).catch(
    (cause: NodeJS.ErrnoException) => {
      throw new Error(`the Docker engine at ${dockerHost} ${whyNot(cause)}`, { cause });
    },
  );
  if (status === 204) return;
  throw new Error(`the Docker engine did not restart ${container}: ${status} ${messageOf(text)}`);
}

function post(dockerHost: string, path: string, signal: AbortSignal): Promise<{ status: number; text: string }> {
  const { secure, target } = addressOf(dockerHost);
  const send = secure ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send({ ...target, path, method: 'POST', signal, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text = (text + chunk).slice(0, MAX_ANSWER_BYTES);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end();
  });
}

function addressOf(dockerHost: string): { secure: boolean; target: ClientRequestArgs } {
  const url = new URL(dockerHost);
  // Any host name does over a socket; without one Node sends none, which the engine refuses.
  if (url.protocol === 'unix:') return { secure: false, target: { socketPath: url.pathname, host: 'docker' } };
  const secure = url.protocol === 'https:';
  return { secure, target: { host: url.hostname, port: url.port || (secure ? 2376 : 2375) } };
}

function whyNot(error: NodeJS.ErrnoException): string {
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'did not answer in time';
  if (error.code === 'EACCES') return 'may not be used by this user (no permission on its socket)';
  if (error.code === 'ENOENT') return 'is not there (no such socket)';
  return `was not reached: ${error.message || error.code}`;
}

function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}
