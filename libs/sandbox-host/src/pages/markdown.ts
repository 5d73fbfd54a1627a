import { Html } from '@pipeline/domain';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** The page loads no pictures: an image stays a link. */
const NO_IMAGES = { disable: { null: ['labelStartImage'] } };

/** A paragraph in small print, which the pipeline ends its comments with. */
const SMALL_PRINT = /^<p>&lt;sub&gt;(.*)&lt;\/sub&gt;<\/p>$/gm;

/**
 * Renders Markdown of GitHub's flavour. Raw HTML is shown as text, except a paragraph in `<sub>`; links with other
 * protocols lose their target.
 */
export const markdown = (text: string): Html =>
  Html.trusted(
    micromark(text, { extensions: [gfm(), NO_IMAGES], htmlExtensions: [gfmHtml()] }).replace(
      SMALL_PRINT,
      '<p class="small">$1</p>',
    ),
  );
