import type { ComponentProps, ReactElement, ReactNode } from 'react';
import { Focusable } from 'react-aria-components/Focusable';
import { Tooltip as AriaTooltip, TooltipTrigger } from 'react-aria-components/Tooltip';
import styles from './tooltip.module.css';

interface TooltipProps {
  children: ReactElement;
  text: ReactNode;
}

/** A focusable element with a text shown on hover and on focus. */
export default function Tooltip({ children, text }: TooltipProps) {
  return (
    <TooltipTrigger delay={300} closeDelay={80}>
      <Focusable>{children as ComponentProps<typeof Focusable>['children']}</Focusable>
      {/* Inside the landmark: screen readers list what is outside of all landmarks as lost content. */}
      <AriaTooltip
        UNSTABLE_portalContainer={document.querySelector('main') ?? document.body}
        className={styles.tip}
        offset={6}
      >
        {text}
      </AriaTooltip>
    </TooltipTrigger>
  );
}
