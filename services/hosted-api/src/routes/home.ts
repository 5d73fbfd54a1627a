import type { IncomingMessage } from 'node:http';
import type { pageRoutes } from '@pipeline/contract';
import { type HandlerInput, webPage } from '@pipeline/http';
import type { Request } from 'express';
import type { PublicAddress } from '../auth/public-address.ts';
import type { Oauth } from '../oauth/oauth.ts';
import { type NotModified, type PageAnswer, show } from '../pages/answers.ts';
import { homePage } from '../pages/home-page.ts';

interface HomeDeps {
  address: PublicAddress;
  monitorUrl: string | undefined;
  oauth: Oauth;
  webDir?: string | undefined;
}

type HomeInput = HandlerInput<Extract<(typeof pageRoutes)[number], { id: 'showHome' }>, undefined>;

/** The page at the root of the service: the customers' pages for a logged-in user, else the start page. */
export const homeHandlers = ({ address, monitorUrl, oauth, webDir }: HomeDeps) => {
  const start = homePage({ origin: address.origin, monitorUrl });
  return {
    showHome: async ({ request }: HomeInput): Promise<PageAnswer | NotModified> => {
      if (webDir === undefined || !wantsPage(request)) return show(200, start);
      const { account } = await oauth.sessions.visitor(request);
      const page = account === null ? null : await webPage(webDir, request);
      if (page === null) return show(200, start, VARIES);
      return { ...page, headers: { ...page.headers, ...VARIES } };
    },
  };
};

const VARIES = { vary: 'accept, cookie' };

/** Browsers name HTML; programs accept everything or JSON. */
const wantsPage = (request: IncomingMessage): boolean =>
  (request as Request).accepts(['json', 'html']) === 'html' && (request.headers.accept ?? '').includes('text/html');
