import { createElement, type SVGProps } from "react";

export type Shape = [tag: string, attributes: Record<string, string>, children: Shape[]];
type IconProps = SVGProps<SVGSVGElement> & { size?: number };

const drawShape = ([tag, attributes, children]: Shape, key: number): ReturnType<typeof createElement> =>
  createElement(tag, { key, ...attributes }, children.length ? children.map(drawShape) : undefined);

/** Make the component of an icon; the build calls it for each `icon:` that a module imports. */
export const createIcon =
  (shapes: Shape[]) =>
  ({ size = 16, ...rest }: IconProps) =>
    createElement(
      "svg",
      { viewBox: "0 0 24 24", width: size, height: size, "aria-hidden": true, ...rest },
      shapes.map(drawShape),
    );
