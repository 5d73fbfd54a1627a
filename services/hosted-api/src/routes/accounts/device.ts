import { endOwnConnection } from '@pipeline/engine';
import type { Account, Organisation } from '@pipeline/store';
import { decideDeviceCode, findArtifact, organisationsOf } from '@pipeline/store';
import { type Program, programOf } from '../../accounts/program.ts';
import { SCOPE } from '../../auth/public-address.ts';
import { REFUSED } from '../../oauth/authorization-errors.ts';
import { goTo, type PageAnswer, show, strangeForm } from '../../pages/answers.ts';
import { consentPage } from '../../pages/consent-page.ts';
import { decidedPage, devicePage } from '../../pages/device-page.ts';
import { DEVICE, formOf, loginFor, type PageDeps, type PageInput } from './account.ts';
import { connect } from './connect.ts';

type Deps = PageDeps & { resource: string };
type FormInput = PageInput<'checkDevice' | 'decideDevice'>;

/** A device code that waits for the decision of a person. */
interface PendingDevice {
  userCode: string;
  program: Program;
  /** IP address at which its program runs. */
  address: string;
}

interface DeviceRequest {
  form: URLSearchParams;
  account: Account;
  formToken: string;
  device: PendingDevice;
  organisations: Organisation[];
}

const UNKNOWN = 'There is no such code, or it was used or has expired. Check it, or start the program again.';

/**
 * Codes of programs without a browser (RFC 8628): a person enters the code and decides; the program polls for tokens.
 */
export function deviceHandlers(deps: Deps) {
  const { sessions } = deps.oauth;
  return {
    showDevice: async ({ request }: PageInput<'showDevice'>): Promise<PageAnswer> => {
      const { account, formToken } = await sessions.visitor(request);
      return account ? show(200, devicePage({ formToken })) : goTo(loginFor(DEVICE));
    },
    checkDevice: async (input: FormInput): Promise<PageAnswer> => {
      const found = await readRequest(deps, input);
      return 'status' in found ? found : consent(deps, found, 200);
    },
    decideDevice: async (input: FormInput): Promise<PageAnswer> => {
      const found = await readRequest(deps, input);
      return 'status' in found ? found : decide(deps, found, input);
    },
  };
}

/**
 * Returns the pending device of the form, or the page that explains why there is none. Each code that is entered
 * counts.
 */
async function readRequest({ store, oauth }: Deps, { request, body }: FormInput): Promise<DeviceRequest | PageAnswer> {
  const { account, formToken } = await oauth.sessions.visitor(request);
  if (!account) return goTo(loginFor(DEVICE));
  const form = formOf(body);
  if (!oauth.sessions.isOurForm(request, form)) return strangeForm();
  await oauth.deviceCodes.take(String(account.id));
  const device = await pendingDevice({ store, oauth }, form.get('user_code') ?? '');
  if (!device) return show(400, devicePage({ formToken, problem: UNKNOWN }));
  return { form, account, formToken, device, organisations: await organisationsOf(store.db, account.id) };
}

async function pendingDevice(
  { store, oauth }: Omit<PageDeps, 'providers'>,
  entered: string,
): Promise<PendingDevice | null> {
  const normalized = entered
    .slice(0, 20)
    .toUpperCase()
    .replaceAll(/[^A-Z]/g, '');
  const payload = await findArtifact(store.db, 'DeviceCode', { uid: normalized });
  if (!payload || payload.accountId || payload.error || payload.consumed) return null;
  const { provider } = await oauth.server();
  const client = await provider.Client.find(String(payload.clientId));
  if (!client) return null;
  const { ip } = (payload.deviceInfo ?? {}) as { ip?: string };
  const userCode = `${normalized.slice(0, 4)}-${normalized.slice(4)}`;
  return { userCode, program: programOf(client), address: ip ?? 'unknown' };
}

const consent = ({ oauth }: Deps, asked: DeviceRequest, status: 200 | 400, problem?: string): PageAnswer => {
  const { device, account, formToken, organisations } = asked;
  const { userCode, address, program } = device;
  const place = { action: `${DEVICE}/confirm`, returnTo: DEVICE, target: { userCode, address } };
  const form = { ...place, account, formToken, organisations, program, lifetimes: oauth.lifetimes };
  return show(status, consentPage({ ...form, ...(problem !== undefined && { problem }) }));
};

async function decide(deps: Deps, asked: DeviceRequest, { log }: FormInput): Promise<PageAnswer> {
  const { form, account, device, organisations } = asked;
  const { db } = deps.store;
  const userCode = device.userCode.replace('-', '');
  const used = () => show(400, devicePage({ formToken: asked.formToken, problem: UNKNOWN }));
  if (form.get('decision') === 'deny') {
    const refusal = { error: REFUSED, errorDescription: 'the user refused' };
    return (await decideDeviceCode(db, userCode, refusal))
      ? show(200, decidedPage(device.program.name, false))
      : used();
  }
  const organisation = organisations.find(({ externalId }) => externalId === form.get('organisation'));
  if (form.get('decision') !== 'allow' || !organisation)
    return consent(deps, asked, 400, 'Choose an organisation, then allow or refuse.');
  const grantId = await connect(deps, { account, program: device.program }, organisation);
  const decision = { accountId: String(account.id), grantId, scope: SCOPE, resource: deps.resource };
  if (!(await decideDeviceCode(db, userCode, decision))) {
    await endOwnConnection(deps.store, account, grantId);
    return used();
  }
  log.info('connection created', { connection: grantId, user: account.id, client: device.program.id });
  return show(200, decidedPage(device.program.name, true));
}
