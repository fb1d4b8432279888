n<?php

declare(strict_types=1);

namespace App\Mail;

use App\Log\{Logger, NullLogger};
use Psr\Container\ContainerInterface as Container;
use function array_map, sprintf;

const RETRIES = 3;

/**
 * Where a message can go.
 */
interface Transport
{
    public const TIMEOUT = 30;

    /** @throws DeliveryFailed */
    public function send(Message $message, int $retries = RETRIES): Receipt;
}

#[\Attribute(\Attribute::TARGET_CLASS | \Attribute::IS_REPEATABLE)]
final class ListensTo
{
    public function __construct(public readonly string $event)
    {
    }
}

enum Priority: int
{
    case Low = 1;
    case High = 2;

    public static function fromHeader(?string $header): self
    {
        return match (strtolower($header ?? '')) {
            'high', 'urgent' => self::High,
            default => self::Low,
        };
    }

    public function label(): string
    {
        return ucfirst($this->name);
    }
}

trait Retries
{
    private int $attempts = 0;

    protected function again(callable $attempt): mixed
    {
        while ($this->attempts++ < static::LIMIT) {
            try {
                return $attempt($this->attempts);
            } catch (\RuntimeException | \LogicException $error) {
                $this->logger->warning($error->getMessage());
            }
        }

        throw new DeliveryFailed('gave up');
    }
}

/**
 * Sends what was written, one message at a time.
 */
#[ListensTo('message.written'), ListensTo('message.retried')]
abstract class Mailer extends Service implements Transport, \Countable
{
    use Retries;

    protected const LIMIT = 5;

    /** @var list<Message> */
    private array $queue = [];

    public function __construct(
        private readonly Container $container,
        protected Logger $logger = new NullLogger(),
        #[\SensitiveParameter] ?string $password = null,
    ) {
        parent::__construct($password);
    }

    abstract protected function connect(string $host, int &$port): bool;

    /**
     * Hands a message over and waits for the receipt.
     */
    public function send(Message $message, int $retries = RETRIES): Receipt
    {
        $this->queue[] = $message;
        $lines = array_map(fn (string $line): string => rtrim($line), $message->lines());
        $receipt = $this->again(function (int $attempt) use ($message, &$lines): Receipt {
            return $this->container->get(Transport::class)->send($message);
        });
        Metrics::increment('sent', tags: ['retries' => $retries]);

        return $receipt;
    }

    #[\Override]
    public function count(): int
    {
        return \count($this->queue);
    }

    public static function template(string $name): string
    {
        return <<<HTML
            <h1>{$name}</h1>
            <?php function not_a_function() {} ?>
            HTML;
    }

    private function quiet(): Logger
    {
        return new class extends NullLogger {
            public function warning(string $text): void
            {
            }
        };
    }
}

function mailer(Container $container): Mailer
{
    static $mailer;

    return $mailer ??= $container->get(Mailer::class);
}

if (!function_exists('App\Mail\quote')) {
    function quote(string $text): string
    {
        return sprintf('> %s', $text);
    }
}

define('MAIL_VERSION', '1.2');
?>
<p>Not code</p>
