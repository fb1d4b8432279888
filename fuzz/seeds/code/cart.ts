b/** What a customer wants to buy. */

import { Injectable } from "framework";

export const MAX_ITEMS = 20;
const CURRENCY: string = "EUR";

export type Price = number | { amount: number; currency: string };

export interface Item {
  name: string;
  price: Price;
  describe(locale: string): string;
}

export enum State {
  Open,
  Paid,
}

export declare function track(event: string): void;

/** The total of all items. */
export function total(items: Item[]): number;
export function total(items: Item[], discount: number): number;
export function total(items: Item[], discount = 0): number {
  return items.reduce((sum, item) => sum + Number(item.price), 0) - discount;
}

@Injectable()
export class Cart {
  private items: Item[] = [];

  constructor(private readonly owner: string) {}

  /** Adds one item. */
  @Logged
  add(item: Item): this {
    this.items.push(item);
    return this;
  }

  readonly clear = (): void => {
    this.items = [];
  };

  get size(): number {
    return this.items.length;
  }
}

export abstract class Shape {
  abstract area(): number;
}

export const format = (price: Price): string => {
  return `${price} ${CURRENCY}`;
};

namespace Internal {
  export function audit(): void {
    console.log("audit");
  }
}

export default Cart;
