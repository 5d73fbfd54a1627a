import type { PublicAddress } from '../auth/public-address.ts';
import { type PageAnswer, show } from '../pages/answers.ts';
import { homePage } from '../pages/home-page.ts';

/** The page at the root of the service. */
export const homeHandlers = ({ address, monitorUrl }: { address: PublicAddress; monitorUrl: string | undefined }) => {
  const page = homePage({ origin: address.origin, monitorUrl });
  return { showHome: async (): Promise<PageAnswer> => show(200, page) };
};
