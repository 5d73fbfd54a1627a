import type { Account, Organisation } from '@pipeline/store';
import type { Program } from '../../accounts/program.ts';
import { SCOPE } from '../../auth/public-address.ts';
import type { Oauth } from '../../oauth/oauth.ts';

/** Creates a connection: the library's grant, of the chosen organisation. @returns its id. */
export async function connect(
  { oauth, resource }: { oauth: Oauth; resource: string },
  { account, program }: { account: Account; program: Program },
  organisation: Organisation,
): Promise<string> {
  const { provider } = await oauth.server();
  const grant = new provider.Grant({ accountId: String(account.id), clientId: program.id });
  grant.addResourceScope(resource, SCOPE);
  return oauth.consents.run({ account, organisation, clientName: program.name }, () => grant.save());
}
