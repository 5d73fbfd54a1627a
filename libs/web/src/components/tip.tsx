import type { ReactNode } from 'react';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';
import styles from './tip.module.css';

interface TipProps {
  /** A focusable element of React Aria, such as a button. */
  children: ReactNode;
  text: ReactNode;
}

/** A text shown on hover and on focus. */
export function Tip({ children, text }: TipProps) {
  return (
    <TooltipTrigger delay={300} closeDelay={80}>
      {children}
      <Tooltip className={styles.tip} offset={6}>
        {text}
      </Tooltip>
    </TooltipTrigger>
  );
}
